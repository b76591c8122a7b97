package dev.baton.scheduler.model;

/** Where a run stands. */
public enum RunStatus {
  RUNNING,
  SUCCESS,
  FAILED,
  TIMEOUT,
  CANCELLED;

  /** It never changes again. */
  public boolean isTerminal() {
    return this != RUNNING;
  }
}
