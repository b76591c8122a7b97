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
  private boolean begun;
  private long firstHeadMillis;
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
   * The state was loaded. The first time since this node started its wall clock counts, until a
   * head is observed; never again, however long it was cut off: others may have led meanwhile.
   *
   * @param headMillis time in the newest head; 0: there is none
   */
  public void assume(long headMillis, long wallMillis, long nanoTime) {
    if (!begun) {
      begun = true;
      firstHeadMillis = headMillis;
      baseMillis = Math.max(headMillis, wallMillis);
      baseNanos = nanoTime;
    } else if (headMillis != firstHeadMillis) {
      // Somebody has touched it since this node started.
      observe(headMillis, nanoTime);
    }
  }

  /** This node leads: what this clock says is journal time from now on. */
  public void lead() {
    seen = true;
  }

  /** Milliseconds; about the wall clock of whoever led first. */
  public long now(long nanoTime) {
    return baseMillis + (nanoTime - baseNanos) / NANOS_PER_MILLI;
  }
}
