package dev.baton.scheduler.model;

/** How an attempt ended. */
public enum Outcome {
  SUCCESS,
  /** Its handler failed: a failure, counted against the retry policy. */
  FAILED,
  /** Its time was over: a failure, counted against the retry policy. */
  TIMEOUT,
  CANCELLED,
  /** Its worker ended: a loss, counted against a budget of its own. */
  LOST,
  /** Its worker had no room: counted against nothing. */
  RETURNED
}
