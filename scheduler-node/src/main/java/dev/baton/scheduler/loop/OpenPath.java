package dev.baton.scheduler.loop;

import java.time.Duration;

/**
 * Keeps the connection for entries open while this node appends none, so that the first entry of a
 * term need not wait for one.
 */
final class OpenPath {
  private static final Duration EVERY = Duration.ofSeconds(5);
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private final Loop loop;
  private long nextNanos;

  OpenPath(Loop loop) {
    this.loop = loop;
    this.nextNanos = loop.strand().nanoTime();
  }

  /** Called often by a node that follows. What comes back does not matter. */
  void tick() {
    long now = loop.strand().nanoTime();
    if (now - nextNanos >= 0) {
      nextNanos = now + EVERY.toNanos();
      var unused = loop.appends().get(loop.keys().leader(), DEADLINE);
    }
  }
}
