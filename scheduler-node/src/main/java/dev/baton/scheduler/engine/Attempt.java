package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * One try of a task, as recorded. Immutable.
 *
 * @param number from 1
 * @param worker stands for the worker's process life, see {@link Event.WorkerNamed}
 * @param startedAt journal time of the assignment, ms
 * @param endedAt journal time, ms; 0 while it runs
 * @param outcome null while it runs
 */
public record Attempt(
    int number,
    int worker,
    long startedAt,
    long endedAt,
    @Nullable Outcome outcome,
    String reason,
    int durationMs) {
  static Attempt started(int number, int worker, long at) {
    return new Attempt(number, worker, at, 0, null, "", 0);
  }

  Attempt ended(long at, Outcome outcome, String reason, int durationMs) {
    return new Attempt(number, worker, startedAt, at, outcome, reason, durationMs);
  }

  /** It runs after all, on this worker. */
  Attempt adopted(int worker) {
    return new Attempt(number, worker, startedAt, 0, null, "", 0);
  }

  public boolean isLost() {
    return outcome == Outcome.LOST;
  }
}
