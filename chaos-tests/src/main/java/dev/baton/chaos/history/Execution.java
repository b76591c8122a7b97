package dev.baton.chaos.history;

/**
 * One start of a handler.
 *
 * @param ended when its handler had ended, or its process died, or the history ends
 * @param ending which of them
 */
public record Execution(
    String worker, TaskKey key, int attempt, long started, long ended, Ending ending) {
  /** What ended an execution. */
  public enum Ending {
    FINISHED,
    /** Its worker's process died; the trace says no more. */
    CUT,
    /** No word of its end, though the process lived. */
    OPEN
  }
}
