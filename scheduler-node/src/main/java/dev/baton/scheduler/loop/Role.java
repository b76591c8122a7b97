package dev.baton.scheduler.loop;

/** What a node is at the moment. */
public enum Role {
  /** Reads the state from etcd. */
  LOADING,
  /** Follows the journal. */
  STANDBY,
  /** Has won the election, and reads what it lacks. */
  TAKING_OVER,
  LEADING,
  /** Met something that it does not know, or was told to end. */
  STOPPED
}
