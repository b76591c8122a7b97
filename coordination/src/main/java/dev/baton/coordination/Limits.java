package dev.baton.coordination;

import dev.baton.coordination.Txn.Op;
import java.util.List;
import java.util.Optional;

/**
 * What may go into one transaction, well inside etcd's own limits (1.5 MiB and 128 operations).
 *
 * <p>Whoever makes an entry checks what it can need at most before it is decided; {@link #check} is
 * the last line and finds only bugs.
 */
public final class Limits {
  /** A journal entry. */
  public static final int ENTRY_BYTES = 512 << 10;

  /** All other keys and values of an entry's transaction together. */
  public static final int BESIDE_BYTES = 512 << 10;

  /** Operations of a transaction, with the two that write the entry and {@code head}. */
  public static final int OPERATIONS = 100;

  /** A value that is a part of something larger. */
  public static final int PART_BYTES = 256 << 10;

  /** Keys that one deleting transaction may remove by ranges. */
  public static final int DELETED_KEYS = 1000;

  private Limits() {}

  /** What makes an entry's transaction too large, or nothing. */
  public static Optional<String> check(int entryBytes, List<Op> beside) {
    if (entryBytes > ENTRY_BYTES) {
      return Optional.of(
          "An entry may have " + ENTRY_BYTES + " bytes, but this one has " + entryBytes + ".");
    }
    if (beside.size() + 2 > OPERATIONS) {
      return Optional.of(
          "A transaction may have "
              + OPERATIONS
              + " operations, but this one has "
              + (beside.size() + 2)
              + ".");
    }
    long bytes = beside.stream().mapToLong(Limits::bytes).sum();
    if (bytes > BESIDE_BYTES) {
      return Optional.of(
          "Beside an entry "
              + BESIDE_BYTES
              + " bytes may be written, but this one wants "
              + bytes
              + ".");
    }
    return Optional.empty();
  }

  private static long bytes(Op op) {
    return switch (op) {
      case Op.Put put -> (long) put.key().size() + put.value().size();
      case Op.Delete delete -> delete.key().size();
      case Op.DeleteRange range -> (long) range.from().size() + range.to().size();
      case Op.Get get -> get.key().size();
    };
  }
}
