package dev.baton.scheduler.simulation;

import com.google.errorprone.annotations.FormatMethod;
import org.jspecify.annotations.Nullable;

/** What must hold, whatever happens. A violation names one of these. */
enum Invariant {
  /** No entry of a term follows one of a later term, and none is written by who does not lead. */
  ORDERED_TERMS,
  /** No worker obeys a term after it has seen a later one. */
  WORKER_TERMS,
  /** Nobody holds an acknowledgement, an answer or an order of what is not in the journal. */
  ACKNOWLEDGED,
  /** Entries are numbered without gaps, and each is written once. */
  GAPLESS,
  /** The state of every node is what the journal says up to its entry. */
  FOLD,
  /** Whoever loads gets what those have who followed. */
  LOAD,
  /** A task has one live attempt, and an attempt is started once. */
  ONE_LIVE,
  /** A task starts after those it depends on have succeeded. */
  DAG_ORDER,
  /** What has ended stays as it ended. */
  TERMINAL,
  /** No worker has more than its slots. */
  SLOTS,
  /** A result that counts is that of the current attempt, or of the last one that was lost. */
  ACCEPTED,
  /** Attempts are numbered one by one, and a next one follows a failure, a loss or a return. */
  ATTEMPTS,
  /** A worker that is out of service gets nothing new. */
  CORDONED,
  /** A task that was cancelled never starts. */
  CANCELLED,
  /** Nothing that is due by journal time fires more than a second of true time early or late. */
  TIMERS,
  /** Once faults stop, every run ends and every outbox empties. */
  LIVENESS,
  /** The product does not report a bug of its own. */
  FAULTLESS;

  /** Throws a violation unless it holds. */
  @FormatMethod
  void check(boolean holds, String what, @Nullable Object... about) {
    if (!holds) {
      throw violated(what, about);
    }
  }

  @FormatMethod
  Violation violated(String what, @Nullable Object... about) {
    return new Violation(this, what.formatted(about));
  }

  /** An invariant does not hold. */
  static final class Violation extends AssertionError {
    private static final long serialVersionUID = 1;
    private final Invariant invariant;

    Violation(Invariant invariant, String what) {
      super(invariant + ": " + what);
      this.invariant = invariant;
    }

    Invariant invariant() {
      return invariant;
    }
  }
}
