package dev.baton.coordination.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What is stuck in buffers somewhere: when the way is open again one half of it goes on. */
final class Held {
  private static final int LIMIT = 1000;
  private static final long SPREAD_NANOS = Duration.ofMillis(200).toNanos();

  private final World world;
  private final List<Runnable> waiting = new ArrayList<>();

  Held(World world) {
    this.world = world;
  }

  /** Above the limit it is lost. */
  void add(Runnable arrival) {
    if (waiting.size() < LIMIT) {
      waiting.add(arrival);
    }
  }

  void release() {
    for (Runnable arrival : waiting) {
      if (world.random().nextBoolean()) {
        var unused = world.at(world.nanoTime() + world.random().nextLong(SPREAD_NANOS), arrival);
      }
    }
    waiting.clear();
  }
}
