package dev.baton.chaos.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.history.Observation.PlannedTask;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlansTest {
  private static List<Plan> draw(long seed) {
    Plans plans = new Plans(new Random(seed), Path.of("/witness"));
    return Stream.generate(plans::draw).limit(300).toList();
  }

  @Test
  void shouldFollowFromTheSeed() {
    assertEquals(draw(7), draw(7));
    assertNotEquals(draw(7), draw(8));
  }

  @Test
  void shouldDrawEveryShape() {
    Set<String> shapes = new HashSet<>();
    draw(7).forEach(plan -> shapes.add(plan.shape()));
    assertEquals(
        Set.of("chain", "diamond", "fan-out", "keyed", "sleeping", "failing", "cancelled"), shapes);
  }

  /** Else an output would not tell which handler it is from. */
  @Test
  void shouldGiveEachEchoAWordOfItsOwnAndTheOneBefore() {
    Set<String> expected = new HashSet<>();
    for (Plan plan : draw(7)) {
      for (PlannedTask task : plan.tasks()) {
        if (task.kind().equals("echo")) {
          assertTrue(expected.add(task.expected()), task.expected());
        }
      }
    }
    Plan chain = draw(7).stream().filter(p -> p.shape().equals("chain")).findFirst().orElseThrow();
    assertEquals("{\"word\":\"" + chain.word() + "-c0\"}", chain.tasks().get(0).expected());
    assertEquals(
        "{\"word\":\"%1$s-c1\",\"after\":\"%1$s-c0\"}".formatted(chain.word()),
        chain.tasks().get(1).expected());
  }

  /** As with users: some definitions come again and again, some once. */
  @Test
  void shouldShareMostDefinitions() {
    Set<String> definitions = new HashSet<>();
    draw(7).forEach(plan -> definitions.add(plan.definition()));
    assertTrue(definitions.size() > 20 && definitions.size() < 80, definitions.size() + "");
  }
}
