package dev.baton.scheduler.simulation;

import dev.baton.scheduler.loop.LoopSettings;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * What a seed makes of a cluster: sizes, times and limits, mostly short, so that what seldom
 * happens happens often.
 */
record Plan(
    int workers,
    int slots,
    int runs,
    Duration faults,
    Duration leaderTtl,
    int snapshotEntries,
    int retainRuns,
    LoopSettings.Upkeep upkeep,
    long quotaBytes) {
  /** Users repeat an id so long after they have drawn it. */
  static final Duration REPEAT_FOR = Duration.ofSeconds(5);

  /** No call waits longer at a node that stands still. */
  static final Duration LONGEST_PAUSE = Duration.ofSeconds(15);

  static Plan draw(RandomGenerator random) {
    return new Plan(
        2 + random.nextInt(3),
        1 + random.nextInt(4),
        20 + random.nextInt(30),
        Duration.ofSeconds(25 + random.nextInt(20)),
        Duration.ofSeconds(2 + random.nextInt(4)),
        // A few entries only: a node that is hardly behind is behind a snapshot.
        random.nextInt(3) == 0 ? 2 + random.nextInt(6) : 8 + random.nextInt(100),
        random.nextInt(12),
        new LoopSettings.Upkeep(
            REPEAT_FOR.plus(LONGEST_PAUSE).plusMillis(4_000 + random.nextInt(10_000)),
            Duration.ofMillis(500 + random.nextInt(4_000)),
            Duration.ofMillis(1_000 + random.nextInt(4_000))),
        64L << 20);
  }

  LoopSettings loop(String nodeId) {
    return new LoopSettings(
        nodeId, 2_000, retainRuns, Duration.ofDays(7), 1L << 20, snapshotEntries, upkeep);
  }
}
