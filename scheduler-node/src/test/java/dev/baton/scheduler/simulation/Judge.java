package dev.baton.scheduler.simulation;

import com.google.errorprone.annotations.FormatMethod;
import dev.baton.scheduler.simulation.Invariant.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Hears of all that is checked. The first violation is kept: where it is thrown it may end in
 * somebody's future.
 */
final class Judge {
  private @Nullable Violation first;

  /** Throws unless it holds. */
  @FormatMethod
  void check(Invariant invariant, boolean holds, String what, @Nullable Object... about) {
    if (!holds) {
      throw violated(invariant, what, about);
    }
  }

  @FormatMethod
  Violation violated(Invariant invariant, String what, @Nullable Object... about) {
    Violation violation = invariant.violated(what, about);
    if (first == null) {
      first = violation;
    }
    return violation;
  }

  /** Throws what was violated, if something was. */
  void verdict() {
    if (first != null) {
      throw first;
    }
  }
}
