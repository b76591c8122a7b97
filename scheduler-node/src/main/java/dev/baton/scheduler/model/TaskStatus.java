package dev.baton.scheduler.model;

/** Where a task of a run stands. */
public enum TaskStatus {
  /** Waits for tasks that it depends on. */
  PENDING,
  /** May start: waits for a slot, or for the delay of a retry. */
  READY,
  RUNNING,
  SUCCESS,
  FAILED,
  TIMEOUT,
  CANCELLED,
  /** A task that it depends on did not succeed. */
  SKIPPED;

  /** It never changes again. */
  public boolean isTerminal() {
    return compareTo(RUNNING) > 0;
  }
}
