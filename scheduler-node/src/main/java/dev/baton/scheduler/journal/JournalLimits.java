package dev.baton.scheduler.journal;

import dev.baton.coordination.Limits;

/** How much goes into one transaction. etcd takes 1.5 MiB and 128 operations. */
final class JournalLimits {
  static final int ENTRY_BYTES = Limits.ENTRY_BYTES;
  static final int BESIDE_BYTES = Limits.BESIDE_BYTES;

  /** The index of an event has 16 bits in the number of what it creates. */
  static final int EVENTS = 60_000;

  /** The longest name of a key, and the header of a record in the history. */
  static final int KEY_BYTES = 80;

  /** Beside these: the entry, the head, the history. */
  static final int KEYS_BESIDE = 90;

  private JournalLimits() {}
}
