package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import java.util.List;
import java.util.Optional;

/**
 * The answer to a transaction.
 *
 * @param succeeded the comparisons held
 * @param revision the store's revision; after a write that succeeded, the revision of that write
 * @param read what the {@link Txn.Op.Get}s of the branch found, in any order; absent keys are left
 *     out
 */
public record TxnReply(boolean succeeded, long revision, List<KeyValue> read) {
  public TxnReply {
    read = List.copyOf(read);
  }

  public Optional<KeyValue> find(ByteString key) {
    return read.stream().filter(kv -> kv.key().equals(key)).findFirst();
  }
}
