package dev.baton.scheduler.engine;

import dev.baton.workflow.OnFailure;
import dev.baton.workflow.RetryPolicy;
import dev.baton.workflow.RetryPolicy.Failure;
import dev.baton.workflow.TaskSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Workflows of random shape. */
final class WalkFlows {
  private static final List<String> TYPES =
      List.of("zip", "zip", "zip", "shell", "shell", "nobody");

  private WalkFlows() {}

  static Flow draw(Random random) {
    List<TaskSpec> tasks = new ArrayList<>();
    int size = 1 + random.nextInt(7);
    for (int i = 0; i < size; i++) {
      List<Integer> before = new ArrayList<>();
      for (int j = 0; j < i; j++) {
        if (random.nextInt(3) == 0) {
          before.add(j);
        }
      }
      String type = random.nextInt(4) > 0 ? Flow.TYPE : TYPES.get(random.nextInt(TYPES.size()));
      tasks.add(
          new TaskSpec(
              i,
              "t" + i,
              type,
              before,
              Map.of(),
              Duration.ZERO,
              retry(random),
              random.nextInt(3) > 0 ? 5 : 1 + random.nextInt(10)));
    }
    return new Flow(
        random.nextInt(3) == 0 ? OnFailure.CANCEL : OnFailure.FINISH,
        random.nextInt(5) == 0 ? Duration.ofSeconds(5 + random.nextInt(55)) : Duration.ZERO,
        tasks);
  }

  private static RetryPolicy retry(Random random) {
    Set<Failure> finalOn =
        switch (random.nextInt(6)) {
          case 0 -> Set.of(Failure.ERROR);
          case 1 -> Set.of(Failure.TIMEOUT);
          default -> Set.of();
        };
    return new RetryPolicy(
        1 + random.nextInt(4),
        Duration.ofMillis(random.nextInt(1500)),
        Duration.ofMillis(500 + random.nextInt(3000)),
        finalOn,
        random.nextInt(3) == 0 ? random.nextInt(6) : random.nextInt(2));
  }
}
