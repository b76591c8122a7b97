package dev.baton.chaos.checker;

import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.ProcessChanged;

/** How far the workers' trace files can be believed. */
final class Traces {
  private Traces() {}

  /**
   * A trace is written by a thread of its own some moments after the fact: a worker that is killed
   * takes its last lines with it. So one is missed only if the worker was killed in a run's time.
   */
  static boolean mayBeUnwritten(History history, String worker, long from, long to) {
    return history.each(ProcessChanged.class).stream()
        .anyMatch(change ->
            change.process().equals(worker)
                && change.change() == Change.KILLED
                && change.nanos() >= from
                && change.nanos() <= to);
  }

  /** The same for whichever worker it was. */
  static boolean anyMayBeUnwritten(History history, long from, long to) {
    return history.each(ProcessChanged.class).stream()
        .anyMatch(change ->
            change.change() == Change.KILLED && change.nanos() >= from && change.nanos() <= to);
  }
}
