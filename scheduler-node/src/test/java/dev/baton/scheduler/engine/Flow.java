package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.SpecHash;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.RetryPolicy;
import dev.baton.workflow.TaskSpec;
import dev.baton.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A workflow in one line: {@code Flow.of("a", "b < a", "c < a", "d < b c")} is a diamond. All tasks
 * are of type {@code echo} and priority 5 unless told otherwise. Immutable.
 */
record Flow(OnFailure onFailure, Duration timeout, List<TaskSpec> tasks) {
  static final String TYPE = "echo";

  Flow {
    tasks = List.copyOf(tasks);
  }

  /** Each line: a task's id, and after {@code <} the ids of those before it that it depends on. */
  static Flow of(String... lines) {
    List<TaskSpec> tasks = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    for (String line : lines) {
      List<String> words = List.of(line.trim().split("[ <]+"));
      List<Integer> before = words.stream().skip(1).map(ids::indexOf).toList();
      ids.add(words.getFirst());
      tasks.add(task(tasks.size(), words.getFirst(), before));
    }
    return new Flow(OnFailure.FINISH, Duration.ZERO, tasks);
  }

  /** {@code t0}, and each further task after the one before. */
  static Flow chain(int length) {
    List<TaskSpec> tasks = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      tasks.add(task(i, "t" + i, i == 0 ? List.of() : List.of(i - 1)));
    }
    return new Flow(OnFailure.FINISH, Duration.ZERO, tasks);
  }

  /** {@code t0} and so on, none after another. */
  static Flow wide(int width) {
    List<TaskSpec> tasks = new ArrayList<>();
    for (int i = 0; i < width; i++) {
      tasks.add(task(i, "t" + i, List.of()));
    }
    return new Flow(OnFailure.FINISH, Duration.ZERO, tasks);
  }

  private static TaskSpec task(int index, String id, List<Integer> before) {
    return new TaskSpec(index, id, TYPE, before, Map.of(), Duration.ZERO, RetryPolicy.DEFAULT, 5);
  }

  Flow onFailure(OnFailure mode) {
    return new Flow(mode, timeout, tasks);
  }

  Flow timeout(Duration limit) {
    return new Flow(onFailure, limit, tasks);
  }

  Flow retry(RetryPolicy retry) {
    return map(t -> task(t, t.type(), retry, t.priority()));
  }

  Flow priority(int priority) {
    return map(t -> task(t, t.type(), t.retry(), priority));
  }

  Flow priority(String id, int priority) {
    return map(t -> t.id().equals(id) ? task(t, t.type(), t.retry(), priority) : t);
  }

  Flow type(String type) {
    return map(t -> task(t, type, t.retry(), t.priority()));
  }

  Flow type(String id, String type) {
    return map(t -> t.id().equals(id) ? task(t, type, t.retry(), t.priority()) : t);
  }

  Flow map(UnaryOperator<TaskSpec> change) {
    return new Flow(onFailure, timeout, tasks.stream().map(change).toList());
  }

  static TaskSpec task(TaskSpec t, String type, RetryPolicy retry, int priority) {
    return new TaskSpec(
        t.index(), t.id(), type, t.dependsOn(), t.params(), t.timeout(), retry, priority);
  }

  Workflow workflow() {
    return new Workflow("flow", "", Map.of(), onFailure, timeout, tasks);
  }

  SpecHash hash() {
    return new SpecHash(0, 0, tasks.size(), hashCode());
  }

  /** So many attempts, the first delay 1 s, the longest 1 min. */
  static RetryPolicy attempts(int attempts, RetryPolicy.Failure... finalOn) {
    return new RetryPolicy(
        attempts, Duration.ofSeconds(1), Duration.ofMinutes(1), java.util.Set.of(finalOn), 5);
  }
}
