package dev.baton.worker.protocol;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Workers that run the real protocol against a model of leaders that come, go, and speak late.
 *
 * <p>A seed that fails is repeated with {@code -Dwalk.seed=N}.
 */
class WorkerProtocolWalkTest {
  private static final int SEEDS = 2_000;

  @Test
  void neverRunsAnAttemptTwiceAndAlwaysComesToRest() {
    Map<WorkerWalk.Seen, Integer> seen = new EnumMap<>(WorkerWalk.Seen.class);
    Long only = Long.getLong("walk.seed");
    for (long seed = only == null ? 0 : only; seed < (only == null ? SEEDS : only + 1); seed++) {
      new WorkerWalk(seed, seen).run();
    }
    if (only == null) {
      // A walk that never meets a case proves nothing about it.
      assertAll(
          Arrays.stream(WorkerWalk.Seen.values())
              .map(what ->
                  () ->
                      assertTrue(
                          seen.getOrDefault(what, 0) > 10, () -> "too seldom: " + what + seen)));
    }
  }
}
