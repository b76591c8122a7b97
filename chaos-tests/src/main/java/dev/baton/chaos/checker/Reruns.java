package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.Execution;
import dev.baton.chaos.history.Execution.Ending;
import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.AttemptRead;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.TaskRead;
import dev.baton.chaos.history.TaskKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Every execution of a task after its first has a reason, and a finished task has none. */
final class Reruns implements Check {
  static final String NAME = "second-executions";

  /** A worker that was hit may be given up so long afterwards: 30 s without a word, and a poll. */
  private static final long SUSPICION = TimeUnit.SECONDS.toNanos(45);

  /**
   * A later execution of a task, and why there was one.
   *
   * @param finished an earlier one had been accepted already
   * @param running an earlier one was running on a live worker
   * @param reason empty: none was found
   */
  record Rerun(Execution execution, boolean finished, boolean running, String reason) {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "Every execution of a task after the first has a reason; a finished task is never run"
        + " again.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    for (Rerun rerun : of(history)) {
      collector.looked();
      String what =
          "%s started again as attempt %d on %s %s"
              .formatted(
                  rerun.execution().key(),
                  rerun.execution().attempt(),
                  rerun.execution().worker(),
                  Moments.of(history, rerun.execution().started()));
      if (rerun.finished()) {
        collector.broken(what + ", though it had an accepted result");
      } else if (rerun.reason().isEmpty()) {
        collector.broken(what + ", and nothing that was done explains it");
      } else if (rerun.reason().equals(UNREADABLE)) {
        collector.unknown(what + ", and its run could not be read");
      }
    }
    return collector.finding();
  }

  private static final String UNREADABLE = "unreadable";

  /** How many later executions there were, by reason. */
  static Map<String, Long> reasons(List<Rerun> reruns) {
    Map<String, Long> counts = new TreeMap<>();
    for (Rerun rerun : reruns) {
      counts.merge(rerun.reason().isEmpty() ? "unexplained" : rerun.reason(), 1L, Long::sum);
    }
    return counts;
  }

  static List<Rerun> of(History history) {
    List<Rerun> reruns = new ArrayList<>();
    for (Map.Entry<TaskKey, List<Execution>> task : history.executions().entrySet()) {
      List<Execution> of = task.getValue();
      if (of.size() < 2) {
        continue;
      }
      List<AttemptRead> attempts = attempts(history, task.getKey());
      for (int i = 1; i < of.size(); i++) {
        reruns.add(rerun(history, of.subList(0, i), of.get(i), attempts));
      }
    }
    return reruns;
  }

  private static Rerun rerun(
      History history, List<Execution> earlier, Execution later, List<AttemptRead> attempts) {
    boolean finished =
        earlier.stream()
            .anyMatch(e ->
                e.ending() == Ending.FINISHED
                    && e.ended() < later.started()
                    && find(attempts, e.attempt())
                        .filter(a -> a.outcome().equals("ATTEMPT_SUCCESS"))
                        .isPresent());
    boolean running =
        earlier.stream()
            .anyMatch(e -> e.started() < later.started() && e.ended() > later.started());
    return new Rerun(later, finished, running, reason(history, earlier.getLast(), later, attempts));
  }

  private static String reason(
      History history, Execution before, Execution later, List<AttemptRead> attempts) {
    if (attempts.isEmpty()) {
      return UNREADABLE;
    }
    if (before.attempt() >= later.attempt()) {
      return "";
    }
    // Attempts between the two may have ended before their handler started.
    AttemptRead cause =
        find(attempts, later.attempt() - 1).or(() -> find(attempts, before.attempt())).orElse(null);
    if (cause == null) {
      return "";
    }
    return switch (cause.outcome()) {
      case "ATTEMPT_FAILED" -> "failure, tried again";
      case "ATTEMPT_TIMEOUT" -> "time-out, tried again";
      case "ATTEMPT_RETURNED" -> "returned by a worker without room";
      case "ATTEMPT_LOST" -> lossReason(history, cause.worker(), later.started());
      default -> "";
    };
  }

  /** What was done to a worker whose attempts were given up. */
  private static String lossReason(History history, String worker, long when) {
    return history.faults().stream()
        .filter(fault -> hits(fault, worker))
        .filter(fault -> fault.injected() <= when && when <= fault.healed() + SUSPICION)
        .reduce((earlier, later) -> later)
        .map(fault -> "worker lost by " + fault.name())
        .orElse("");
  }

  private static boolean hits(FaultSpan fault, String worker) {
    return fault.targets().contains(worker);
  }

  private static Optional<AttemptRead> find(List<AttemptRead> attempts, int number) {
    return attempts.stream().filter(attempt -> attempt.number() == number).findFirst();
  }

  private static List<AttemptRead> attempts(History history, TaskKey key) {
    List<RunRead> reads =
        history.reads(key.run()).stream().filter(read -> !read.tasks().isEmpty()).toList();
    if (reads.isEmpty()) {
      return List.of();
    }
    return reads.getLast().tasks().stream()
        .filter(task -> task.id().equals(key.task()))
        .findFirst()
        .map(TaskRead::attempts)
        .orElse(List.of());
  }
}
