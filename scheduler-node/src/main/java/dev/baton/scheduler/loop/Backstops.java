package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Limits;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * The leader's own timeouts, for workers that do not keep theirs: counted from the last sending of
 * an attempt, for one that another leader has sent from when this one first knew of it, and never
 * while a result of it is being stored. Soft.
 */
final class Backstops {
  private record Due(long at, AttemptRef attempt) {}

  private final LongSupplier now;
  private final Map<AttemptRef, Due> byAttempt = new HashMap<>();
  private final Set<AttemptRef> storing = new HashSet<>();
  private final TreeSet<Due> dues =
      new TreeSet<>(
          Comparator.comparingLong(Due::at)
              .thenComparingLong(d -> d.attempt().run())
              .thenComparingInt(d -> d.attempt().task())
              .thenComparingInt(d -> d.attempt().attempt()));

  /**
   * @param now journal time, ms
   */
  Backstops(LongSupplier now) {
    this.now = now;
  }

  /** The attempt was sent, perhaps once more. */
  void sent(AttemptRef attempt, long timeoutMs) {
    if (timeoutMs > 0) {
      begin(attempt, timeoutMs);
    }
  }

  /**
   * The attempt is with a worker. To hear so again changes nothing: a worker that does not keep
   * time says it for ever.
   */
  void known(AttemptRef attempt, long timeoutMs) {
    if (timeoutMs > 0 && !byAttempt.containsKey(attempt)) {
      begin(attempt, timeoutMs);
    }
  }

  private void begin(AttemptRef attempt, long timeoutMs) {
    Due due = new Due(now.getAsLong() + timeoutMs + Limits.BACKSTOP.toMillis(), attempt);
    Due before = byAttempt.put(attempt, due);
    if (before != null) {
      dues.remove(before);
    }
    dues.add(due);
  }

  void ended(AttemptRef attempt) {
    Due due = byAttempt.remove(attempt);
    if (due != null) {
      dues.remove(due);
    }
    storing.remove(attempt);
  }

  /** A result of it is being stored. False: one is already. */
  boolean beginStoring(AttemptRef attempt) {
    return storing.add(attempt);
  }

  void endStoring(AttemptRef attempt) {
    storing.remove(attempt);
  }

  /** Attempts whose time is over; each is given once. */
  Set<AttemptRef> poll() {
    Set<AttemptRef> over = new HashSet<>();
    while (!dues.isEmpty() && dues.first().at() <= now.getAsLong()) {
      Due due = dues.first();
      dues.remove(due);
      if (storing.contains(due.attempt())) {
        Due later = new Due(now.getAsLong() + Limits.BACKSTOP.toMillis(), due.attempt());
        byAttempt.put(due.attempt(), later);
        dues.add(later);
      } else {
        byAttempt.remove(due.attempt());
        over.add(due.attempt());
      }
    }
    return over;
  }
}
