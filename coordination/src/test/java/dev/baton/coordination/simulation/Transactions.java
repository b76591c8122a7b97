package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.TxnReply;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** How etcd judges a transaction, and carries it out. */
final class Transactions {
  private static final int OPERATIONS = 128;
  private static final int REQUEST_BYTES = 1536 << 10;

  /** What the frames of an operation's messages take, about. */
  private static final int BYTES_BESIDE_AN_OPERATION = 12;

  private Transactions() {}

  /** Refuses what no state of the store would make right. */
  static void check(Txn txn) {
    int operations =
        Math.max(txn.compares().size(), Math.max(txn.then().size(), txn.otherwise().size()));
    if (operations > OPERATIONS) {
      throw refused(Kind.TOO_LARGE, "too many operations in one transaction: " + operations);
    }
    txn.compares().forEach(compare -> checkKey(compare.key()));
    checkBranch(txn.then());
    checkBranch(txn.otherwise());
    if (isWrite(txn) && bytes(txn) > REQUEST_BYTES) {
      throw refused(Kind.TOO_LARGE, "the request is too large: " + bytes(txn));
    }
  }

  /** It changes something in one of its branches, so all members must agree on it. */
  static boolean isWrite(Txn txn) {
    return anyWrite(txn.then()) || anyWrite(txn.otherwise());
  }

  /** It only compares: etcd lets the member that is asked answer by what it knows. */
  static boolean isLocal(Txn txn) {
    return txn.then().isEmpty() && txn.otherwise().isEmpty();
  }

  /** What it needs room for; the branch is not known when that is judged. */
  static boolean needsSpace(Txn txn) {
    return anyPut(txn.then()) || anyPut(txn.otherwise());
  }

  static TxnReply carryOut(Txn txn, Store store, Leases leases) {
    boolean succeeded = holds(txn, store, store.revision());
    List<Op> ops = succeeded ? txn.then() : txn.otherwise();
    for (Op op : ops) {
      if (op instanceof Op.Put put && put.leaseId() != 0 && !leases.isKnown(put.leaseId())) {
        throw refused(Kind.LEASE_NOT_FOUND, "the lease to put under is not known");
      }
    }
    Store.Change change = store.change();
    List<KeyValue> read = new ArrayList<>();
    for (Op op : ops) {
      switch (op) {
        case Op.Put put -> change.put(put.key(), put.value(), put.leaseId());
        case Op.Delete delete -> change.delete(delete.key());
        case Op.DeleteRange range -> change.deleteRange(range.from(), range.to());
        case Op.Get get -> {
          KeyValue found = change.get(get.key());
          if (found != null) {
            read.add(found);
          }
        }
      }
    }
    change.commit();
    return new TxnReply(succeeded, store.revision(), read);
  }

  /** All comparisons hold at a revision. */
  static boolean holds(Txn txn, Store store, long revision) {
    for (Compare compare : txn.compares()) {
      KeyValue found = store.get(compare.key(), revision);
      boolean holds =
          switch (compare) {
            case Compare.ModRevision mod ->
                (found == null ? 0 : found.modRevision()) == mod.revision();
            case Compare.CreateRevision create ->
                (found == null ? 0 : found.createRevision()) == create.revision();
          };
      if (!holds) {
        return false;
      }
    }
    return true;
  }

  private static void checkBranch(List<Op> ops) {
    Set<ByteString> puts = new HashSet<>();
    for (Op op : ops) {
      checkKey(
          switch (op) {
            case Op.Put put -> put.key();
            case Op.Delete delete -> delete.key();
            case Op.DeleteRange range -> range.from();
            case Op.Get get -> get.key();
          });
      if (op instanceof Op.Put put && !puts.add(put.key())) {
        throw duplicate(put.key());
      }
    }
    for (Op op : ops) {
      if (op instanceof Op.Delete delete && puts.contains(delete.key())) {
        throw duplicate(delete.key());
      }
      if (op instanceof Op.DeleteRange range) {
        puts.stream()
            .filter(key -> isIn(key, range.from(), range.to()))
            .findAny()
            .ifPresent(key -> {
              throw duplicate(key);
            });
      }
    }
  }

  static boolean isIn(ByteString key, ByteString from, ByteString to) {
    byte[] name = key.toByteArray();
    return Arrays.compareUnsigned(name, from.toByteArray()) >= 0
        && Arrays.compareUnsigned(name, to.toByteArray()) < 0;
  }

  private static void checkKey(ByteString key) {
    if (key.isEmpty()) {
      throw refused(Kind.REFUSED, "a key is empty");
    }
  }

  private static boolean anyWrite(List<Op> ops) {
    for (Op op : ops) {
      if (!(op instanceof Op.Get)) {
        return true;
      }
    }
    return false;
  }

  private static boolean anyPut(List<Op> ops) {
    for (Op op : ops) {
      if (op instanceof Op.Put) {
        return true;
      }
    }
    return false;
  }

  private static long bytes(Txn txn) {
    long bytes = 0;
    for (Compare compare : txn.compares()) {
      bytes += BYTES_BESIDE_AN_OPERATION + compare.key().size();
    }
    return bytes + bytes(txn.then()) + bytes(txn.otherwise());
  }

  private static long bytes(List<Op> ops) {
    long bytes = 0;
    for (Op op : ops) {
      bytes +=
          BYTES_BESIDE_AN_OPERATION
              + switch (op) {
                case Op.Put put -> put.key().size() + put.value().size();
                case Op.Delete delete -> delete.key().size();
                case Op.DeleteRange range -> range.from().size() + range.to().size();
                case Op.Get get -> get.key().size();
              };
    }
    return bytes;
  }

  private static EtcdException duplicate(ByteString key) {
    return refused(Kind.DUPLICATE_KEY, key.toStringUtf8() + " is named twice");
  }

  static EtcdException refused(Kind kind, String why) {
    return new EtcdException(kind, "etcd refused: " + why + ".");
  }
}
