package dev.baton.chaos.checker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.AttemptRead;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.PlannedTask;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.TaskRead;
import dev.baton.chaos.history.Observation.Witnessed;
import dev.baton.chaos.history.TaskKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A task has one accepted result, a handler really produced it, and it never changes. That a
 * handler ran is told by its worker's trace, what it gave by what only it could know.
 */
final class AcceptedResults implements Check {
  static final String NAME = "accepted-results";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private record AttemptKey(TaskKey task, int attempt) {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "A task has at most one accepted result; a handler really produced it; it never changes.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    Map<AttemptKey, List<String>> words = new HashMap<>();
    for (Witnessed witnessed : history.each(Witnessed.class)) {
      words
          .computeIfAbsent(
              new AttemptKey(new TaskKey(witnessed.run(), witnessed.task()), witnessed.attempt()),
              k -> new ArrayList<>())
          .add(witnessed.word());
    }
    for (Planned plan : history.planned().values()) {
      List<RunRead> reads =
          history.reads(plan.run()).stream().filter(AcceptedResults::hasTasks).toList();
      if (reads.isEmpty()) {
        continue;
      }
      RunRead last = reads.getLast();
      for (RunRead earlier : reads.subList(0, reads.size() - 1)) {
        judgeStability(earlier, last, collector);
      }
      Map<String, PlannedTask> tasks = new HashMap<>();
      plan.tasks().forEach(task -> tasks.put(task.id(), task));
      for (TaskRead task : last.tasks()) {
        collector.looked();
        PlannedTask planned = tasks.get(task.id());
        if (planned == null) {
          collector.broken("run %s has a task %s that nobody planned".formatted(plan.run(), task));
        } else if (task.state().equals("TASK_SUCCESS")) {
          TaskKey key = new TaskKey(plan.run(), task.id());
          Predicate<String> excused =
              worker ->
                  Traces.mayBeUnwritten(history, worker, plan.nanos(), reads.getFirst().nanos());
          judge(history, key, task, excused, collector);
          withOutput(reads, task)
              .ifPresent(read -> judgeOutput(key, planned, task, read, words, collector));
        }
      }
    }
    return collector.finding();
  }

  /** Tasks with more than one accepted result. */
  static long duplicates(History history) {
    return history.planned().keySet().stream()
        .flatMap(run -> history.lastRead(run).stream())
        .flatMap(read -> read.tasks().stream())
        .filter(task -> successes(task).size() > 1)
        .count();
  }

  private static List<AttemptRead> successes(TaskRead task) {
    return task.attempts().stream().filter(a -> a.outcome().equals("ATTEMPT_SUCCESS")).toList();
  }

  private static boolean hasTasks(RunRead read) {
    return !read.tasks().isEmpty();
  }

  /** What had ended is read alike ever after. */
  private static void judgeStability(RunRead earlier, RunRead later, Collector collector) {
    if (earlier.state().equals(RunRead.RUNNING)) {
      return;
    }
    if (!earlier.state().equals(later.state()) || !areAlike(earlier.tasks(), later.tasks())) {
      collector.broken(
          "run %s had ended as %s and was read otherwise later: %s, then %s"
              .formatted(earlier.run(), earlier.state(), earlier.tasks(), later.tasks()));
    }
  }

  /** Not every reading fetched every output. */
  private static boolean areAlike(List<TaskRead> some, List<TaskRead> others) {
    if (some.size() != others.size()) {
      return false;
    }
    for (int i = 0; i < some.size(); i++) {
      TaskRead one = some.get(i);
      TaskRead other = others.get(i);
      boolean sameOutput =
          one.outputAttempt() == 0
              || other.outputAttempt() == 0
              || (one.output().equals(other.output())
                  && one.outputAttempt() == other.outputAttempt());
      if (!one.id().equals(other.id())
          || !one.state().equals(other.state())
          || !one.attempts().equals(other.attempts())
          || !sameOutput) {
        return false;
      }
    }
    return true;
  }

  /** The newest reading of a task that fetched its output. */
  private static Optional<TaskRead> withOutput(List<RunRead> reads, TaskRead task) {
    return reads.stream()
        .flatMap(read -> read.tasks().stream())
        .filter(read -> read.id().equals(task.id()) && read.outputAttempt() != 0)
        .reduce((earlier, later) -> later);
  }

  private static void judge(
      History history, TaskKey key, TaskRead task, Predicate<String> excused, Collector collector) {
    List<AttemptRead> successes = successes(task);
    if (successes.size() != 1) {
      collector.broken("task %s has %d accepted results".formatted(key, successes.size()));
      return;
    }
    AttemptRead accepted = successes.getFirst();
    boolean started =
        history.executions(key).stream().anyMatch(e -> e.attempt() == accepted.number());
    if (!started && !excused.test(accepted.worker())) {
      collector.broken(
          "the result of %s, attempt %d on %s, was accepted, but no worker started it"
              .formatted(key, accepted.number(), accepted.worker()));
    }
  }

  private static void judgeOutput(
      TaskKey key,
      PlannedTask planned,
      TaskRead task,
      TaskRead read,
      Map<AttemptKey, List<String>> words,
      Collector collector) {
    int attempt = read.outputAttempt();
    if (successes(task).stream().noneMatch(a -> a.number() == attempt)) {
      collector.broken(
          "the output of %s is of attempt %d, which was not accepted".formatted(key, attempt));
      return;
    }
    JsonNode output = json(read.output());
    if (planned.expected().isEmpty()) {
      String word = output.path("stdout").asText().strip();
      List<String> told = words.getOrDefault(new AttemptKey(key, attempt), List.of());
      if (!told.contains(word)) {
        collector.broken(
            "the output of %s, attempt %d, is '%s', but the command told %s"
                .formatted(key, attempt, word, told));
      }
    } else if (!output.equals(json(planned.expected()))) {
      collector.broken(
          "the output of %s is %s, but its handler can only give %s"
              .formatted(key, read.output(), planned.expected()));
    }
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      return JSON.getNodeFactory().textNode("no JSON: " + text);
    }
  }
}
