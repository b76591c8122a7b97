package dev.baton.scheduler.loop;

import java.time.Duration;

/** How long to wait before the next try: twice as long each time, up to a bound. */
record Pause(Duration now, Duration longest) {
  /** From 50 ms. */
  static Pause upTo(Duration longest) {
    return new Pause(Duration.ofMillis(50), longest);
  }

  Pause longer() {
    Duration twice = now.multipliedBy(2);
    return new Pause(twice.compareTo(longest) < 0 ? twice : longest, longest);
  }
}
