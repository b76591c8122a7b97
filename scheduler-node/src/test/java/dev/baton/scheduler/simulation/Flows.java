package dev.baton.scheduler.simulation;

import com.google.protobuf.ByteString;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.workflow.Canonical;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.Parameter;
import dev.baton.workflow.RetryPolicy;
import dev.baton.workflow.TaskSpec;
import dev.baton.workflow.Template;
import dev.baton.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/** The definitions that the users of a seed have: few, so that they come again. */
final class Flows {
  static final String COMMON = "echo";
  static final String RARE = "shell";
  private static final int COUNT = 5;
  private static final int MOST_TASKS = 6;

  private final List<Submission.Definition> all = new ArrayList<>();
  private final Map<SpecHash, Workflow> byHash = new HashMap<>();

  Flows(RandomGenerator random) {
    for (int i = 0; i < COUNT; i++) {
      Workflow workflow = draw("flow" + i, random);
      Canonical canonical = Canonical.of(workflow);
      SpecHash hash = SpecHash.of(canonical.hash());
      all.add(
          new Submission.Definition(workflow, hash, ByteString.copyFrom(canonical.compressed())));
      byHash.put(hash, workflow);
    }
  }

  Submission.Definition any(RandomGenerator random) {
    return all.get(random.nextInt(all.size()));
  }

  Workflow workflow(SpecHash hash) {
    Workflow workflow = byHash.get(hash);
    if (workflow == null) {
      throw Invariant.FOLD.violated("The journal names a definition that nobody submitted");
    }
    return workflow;
  }

  private static Workflow draw(String name, RandomGenerator random) {
    List<TaskSpec> tasks = new ArrayList<>();
    int size = 1 + random.nextInt(MOST_TASKS);
    for (int i = 0; i < size; i++) {
      List<Integer> before = new ArrayList<>();
      for (int j = Math.max(0, i - 3); j < i; j++) {
        if (random.nextInt(2) == 0) {
          before.add(j);
        }
      }
      tasks.add(
          new TaskSpec(
              i,
              "t" + i,
              random.nextInt(6) == 0 ? RARE : COMMON,
              before,
              params(before, random),
              random.nextInt(3) == 0
                  ? Duration.ofMillis(400 + random.nextInt(2_500))
                  : Duration.ZERO,
              retry(random),
              random.nextInt(3) > 0 ? 5 : 1 + random.nextInt(10)));
    }
    return new Workflow(
        name,
        "",
        Map.of("text", new Parameter("text", "\"\"")),
        random.nextInt(3) == 0 ? OnFailure.CANCEL : OnFailure.FINISH,
        random.nextInt(3) == 0 ? Duration.ofMillis(1_500 + random.nextInt(12_000)) : Duration.ZERO,
        tasks);
  }

  private static Map<String, Template> params(List<Integer> before, RandomGenerator random) {
    Map<String, Template> params = new TreeMap<>();
    if (!before.isEmpty() && random.nextInt(2) == 0) {
      params.put(
          "first", new Template("\"${{ tasks.t%d.output.by }}\"".formatted(before.getFirst())));
    }
    if (random.nextInt(4) == 0) {
      params.put("text", new Template("\"${{ params.text }}\""));
    }
    return params;
  }

  private static RetryPolicy retry(RandomGenerator random) {
    Duration first = Duration.ofMillis(1 + random.nextInt(1_500));
    return new RetryPolicy(
        1 + random.nextInt(4),
        first,
        first.multipliedBy(2),
        random.nextInt(5) == 0 ? Set.of(RetryPolicy.Failure.TIMEOUT) : Set.of(),
        random.nextInt(3) == 0 ? random.nextInt(3) : 5);
  }
}
