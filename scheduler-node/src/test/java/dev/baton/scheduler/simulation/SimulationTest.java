package dev.baton.scheduler.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.workflow.Resolver;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The whole cluster under faults, over seeds. {@code -Dbaton.simulation.seed=N} runs one and prints
 * all that happened; {@code baton.simulation.first} and {@code baton.simulation.seeds} choose
 * others.
 */
class SimulationTest {
  private static final long LEAST_EVENTS = 5_000;
  private static final int LEAST_KINDS_OF_FAULT = 3;

  /** So many seeds see everything that there is to see. */
  private static final int ENOUGH_SEEDS = 200;

  @BeforeEach
  void silenceLogs() {
    Seeds.silenceLogs(Long.getLong("baton.simulation.seed") == null);
  }

  @AfterEach
  void restoreLogs() {
    Seeds.silenceLogs(false);
  }

  @Test
  void keepsEveryPromiseUnderFaults() {
    Long only = Long.getLong("baton.simulation.seed");
    Seeds seeds = new Seeds();
    if (only != null) {
      Seeds.Failure failure = seeds.run(only, true);
      System.out.println(seeds.coverage());
      if (failure != null) {
        fail(failure.report());
      }
      return;
    }
    long first = Long.getLong("baton.simulation.first", 1);
    int count = Integer.getInteger("baton.simulation.seeds", ENOUGH_SEEDS);
    for (long seed = first; seed < first + count; seed++) {
      Seeds.Failure failure = seeds.run(seed, false);
      if (failure != null) {
        fail(failure.report());
      }
    }
    System.out.printf("%d seeds, %d events%n%s", count, seeds.events(), seeds.coverage());
    if (count >= ENOUGH_SEEDS) {
      List<Sight> unseen =
          Arrays.stream(Sight.values())
              .filter(sight -> seeds.coverage().count(sight) == 0)
              .toList();
      assertEquals(List.of(), unseen, "never seen");
    }
  }

  /** Each found a fault of the product, in what it told before there were more kinds of fault. */
  @ParameterizedTest
  @ValueSource(longs = {52, 63, 98, 1169, 1317, 9929, 28111})
  void keepsWhatWasRepaired(long seed) {
    Seeds.Failure failure = new Seeds().run(seed, false);
    assertNull(failure, () -> String.valueOf(failure));
  }

  @Test
  void runsToItsEndWithoutFaults() {
    Simulation.Result result = new Simulation(42, new Resolver()).happy().run();
    assertEquals(0, result.kindsOfFault());
    assertEquals(1, result.coverage().count(Sight.ELECTION));
    assertEquals(0, result.coverage().count(Sight.LOSS));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void theSameSeedTellsTheSameStory(long seed) {
    Simulation.Result first = new Seeds().runOrThrow(seed);
    Simulation.Result second = new Seeds().runOrThrow(seed);
    assertEquals(first.traceHash(), second.traceHash());
    assertEquals(first.events(), second.events());
    assertTrue(first.events() >= LEAST_EVENTS, () -> "only " + first.events() + " events");
    assertTrue(
        first.kindsOfFault() >= LEAST_KINDS_OF_FAULT,
        () -> "only " + first.kindsOfFault() + " kinds of fault");
  }
}
