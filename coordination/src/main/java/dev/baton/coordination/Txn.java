package dev.baton.coordination;

import com.google.protobuf.ByteString;
import java.util.List;

/**
 * If all comparisons hold then the first operations, else the others, as one step.
 *
 * <p>A transaction that must be judged by the newest state has a {@link Op.Get} in both branches:
 * etcd may answer one without operations from a stale member.
 */
public record Txn(List<Compare> compares, List<Op> then, List<Op> otherwise) {
  public Txn {
    compares = List.copyOf(compares);
    then = List.copyOf(then);
    otherwise = List.copyOf(otherwise);
  }

  /** An equality; revision 0 means that the key is absent. */
  public sealed interface Compare {
    ByteString key();

    record ModRevision(ByteString key, long revision) implements Compare {}

    record CreateRevision(ByteString key, long revision) implements Compare {}
  }

  /** An operation. A key may be written only once in a transaction. */
  public sealed interface Op {
    /** {@code leaseId} 0: none. */
    record Put(ByteString key, ByteString value, long leaseId) implements Op {}

    record Delete(ByteString key) implements Op {}

    /** Deletes {@code from} (inclusive) to {@code to} (exclusive). */
    record DeleteRange(ByteString from, ByteString to) implements Op {}

    record Get(ByteString key) implements Op {}
  }
}
