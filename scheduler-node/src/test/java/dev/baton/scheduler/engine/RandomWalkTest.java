package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Walks at random through everything that can happen to the engine and checks the invariants at
 * each step. {@code -Dbaton.walk.seeds=N} walks further, {@code -Dbaton.walk.seed=N} walks one
 * again.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RandomWalkTest {
  private static final int SEEDS = 500;
  private static final int GROUP = 25;

  private final WalkCounts counts = new WalkCounts();
  private final long only = Long.getLong("baton.walk.seed", 0);
  private final long seeds = only > 0 ? 1 : Long.getLong("baton.walk.seeds", SEEDS);
  private final int steps = Integer.getInteger("baton.walk.steps", 2_000);

  /** Neighbouring seeds. */
  record Group(long first, long last) {
    @Override
    public String toString() {
      return "seeds " + first + " to " + last;
    }
  }

  List<Group> groups() {
    if (only > 0) {
      return List.of(new Group(only, only));
    }
    List<Group> groups = new ArrayList<>();
    for (long first = 1; first <= seeds; first += GROUP) {
      groups.add(new Group(first, Math.min(seeds, first + GROUP - 1)));
    }
    return groups;
  }

  @ParameterizedTest
  @MethodSource("groups")
  void shouldKeepEveryInvariant(Group group) {
    LongStream.rangeClosed(group.first(), group.last()).forEach(this::walk);
  }

  private void walk(long seed) {
    Walk walk = new Walk(seed, counts);
    try {
      walk.run(steps);
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(
          "Seed "
              + seed
              + " failed at step "
              + walk.step()
              + ": "
              + e.getMessage()
              + "\nThe last steps:\n"
              + walk.lastSteps()
              + "Again: mvn -pl scheduler-node -am test -Dtest=RandomWalkTest"
              + " -Dsurefire.failIfNoSpecifiedTests=false -Dbaton.walk.steps="
              + steps
              + " -Dbaton.walk.seed="
              + seed,
          e);
    }
  }

  @AfterAll
  void everythingHappened() {
    System.out.println(counts);
    if (seeds >= SEEDS) {
      assertEquals(List.of(), counts.missing(), "Never happened in all walks");
    }
  }
}
