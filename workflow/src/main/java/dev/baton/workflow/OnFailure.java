package dev.baton.workflow;

/** What a run does when a task has failed for good. */
public enum OnFailure {
  /** Tasks that do not depend on it run to their end; then the run has failed. */
  FINISH,
  /** Everything else is cancelled. */
  CANCEL
}
