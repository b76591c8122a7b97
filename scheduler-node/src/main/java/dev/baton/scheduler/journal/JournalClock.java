package dev.baton.scheduler.journal;

/**
 * Journal time: what events are stamped with, and what everything that becomes due is due by. It
 * goes on from the time in the newest head that this node saw by the monotonic clock, so neither a
 * jump nor a skew of a wall clock moves it.
 */
public final class JournalClock {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private long baseMillis;
  private long baseNanos;
  private boolean seen;

  /** A head with this time was touched just before {@code nanoTime}. Time never goes back. */
  public void observe(long headMillis, long nanoTime) {
    if (!seen || headMillis > now(nanoTime)) {
      baseMillis = headMillis;
      baseNanos = nanoTime;
      seen = true;
    }
  }

  /**
   * What it says until a head is observed: nobody has touched one since this node started.
   *
   * @param headMillis time in the newest head; 0: there is none
   */
  public void assume(long headMillis, long wallMillis, long nanoTime) {
    if (!seen) {
      baseMillis = Math.max(headMillis, wallMillis);
      baseNanos = nanoTime;
    }
  }

  /** Milliseconds; about the wall clock of whoever led first. */
  public long now(long nanoTime) {
    return baseMillis + (nanoTime - baseNanos) / NANOS_PER_MILLI;
  }
}
