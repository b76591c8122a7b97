package dev.baton.coordination;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The pauses between tries: they double from the first to the longest, each cut at random to
 * between half and all of it so that many clients do not come back together.
 */
public final class Backoff {
  private final Duration first;
  private final Duration longest;
  private final RandomGenerator random;
  private Duration next;

  public Backoff(Duration first, Duration longest, RandomGenerator random) {
    if (first.isNegative() || first.isZero() || longest.compareTo(first) < 0) {
      throw new IllegalArgumentException(
          "Expected 0 < first <= longest, but got " + first + " and " + longest + ".");
    }
    this.first = first;
    this.longest = longest;
    this.random = random;
    this.next = first;
  }

  public Duration next() {
    Duration whole = next;
    Duration doubled = whole.multipliedBy(2);
    next = doubled.compareTo(longest) > 0 ? longest : doubled;
    long half = Math.max(1, whole.toNanos() / 2);
    return Duration.ofNanos(half + random.nextLong(half));
  }

  /** After a success: the next pause is the first again. */
  public void reset() {
    next = first;
  }
}
