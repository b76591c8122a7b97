package dev.baton.coordination.simulation;

/** What a simulated etcd counts, so that a test can tell what it has covered. */
public enum Happening {
  /** A call of any kind. */
  CALL,
  /** A call whose caller was told that nobody knows. */
  UNKNOWN_OUTCOME,
  /** A call that no member took. */
  UNAVAILABLE,
  /** A request that never arrived. */
  REQUEST_LOST,
  /** An answer that never arrived. */
  ANSWER_LOST,
  /** A change that was applied after its caller was told that nobody knows. */
  LATE_APPLICATION,
  /** A transaction that changed the store. */
  COMMIT,
  /** A refusal for want of space. */
  NO_SPACE,
  /** A refusal because of load. */
  TOO_MANY_REQUESTS,
  /** A transaction without operations that was judged by an older state. */
  STALE_ANSWER,
  /** A lease that etcd ended. */
  LEASE_EXPIRED,
  /** An etcd leader was lost. */
  ELECTION,
  COMPACTION,
  /** A read or watch of a revision that was compacted. */
  COMPACTED,
  /** A watch that failed. */
  WATCH_BROKEN,
  /** Events that a watch should have told. */
  WATCH_EVENT_LOST
}
