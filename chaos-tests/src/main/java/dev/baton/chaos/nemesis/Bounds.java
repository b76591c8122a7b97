package dev.baton.chaos.nemesis;

import java.time.Duration;

/**
 * How long tasks may go unassigned, by what happened: the times of docs/failover.md with room for a
 * machine whose two cores serve all nodes. The lease's are its TTL of 5 s, which etcd starts again
 * in full when its own leader changes, and a take-over.
 */
final class Bounds {
  static final Duration RESIGNED = Duration.ofSeconds(2);
  static final Duration PROCESS_GONE = Duration.ofMillis(2500);
  static final Duration STANDS_STILL = Duration.ofSeconds(5);
  static final Duration LEASE = Duration.ofMillis(8500);
  static final Duration LEASE_AFTER_AN_ELECTION = Duration.ofMillis(13_500);

  /** From the moment etcd's members are told to go on. */
  static final Duration ETCD_IS_BACK = Duration.ofSeconds(20);

  private Bounds() {}
}
