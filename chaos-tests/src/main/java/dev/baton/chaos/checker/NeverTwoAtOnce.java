package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.Execution;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.AttemptRead;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.TaskRead;
import dev.baton.chaos.history.TaskKey;
import java.util.List;
import java.util.Map;

/** Two attempts of a task run at once only if the first was given up as lost. */
final class NeverTwoAtOnce implements Check {
  static final String NAME = "never-two-at-once";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "Attempts of a task never run at once on live workers, unless the first was given up as"
        + " lost.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    for (Map.Entry<TaskKey, List<Execution>> task : history.executions().entrySet()) {
      collector.looked();
      List<Execution> of = task.getValue();
      for (int later = 1; later < of.size(); later++) {
        for (int earlier = 0; earlier < later; earlier++) {
          judge(history, of.get(earlier), of.get(later), collector);
        }
      }
    }
    return collector.finding();
  }

  private static void judge(
      History history, Execution first, Execution second, Collector collector) {
    if (first.ended() <= second.started()) {
      return;
    }
    String outcome = outcome(history, first);
    String sentence =
        "%s ran as attempt %d on %s and, %s, as attempt %d on %s"
            .formatted(
                first.key(),
                first.attempt(),
                first.worker(),
                Moments.of(history, second.started()),
                second.attempt(),
                second.worker());
    if (first.attempt() == second.attempt()) {
      collector.broken(sentence + ": the same attempt twice");
    } else if (outcome.isEmpty()) {
      collector.unknown(sentence + ", and the run could not be read");
    } else if (!outcome.equals("ATTEMPT_LOST")) {
      collector.broken(sentence + ", but the first ended as " + outcome);
    }
  }

  /** Of the attempt of an execution; empty: it could not be read. */
  private static String outcome(History history, Execution execution) {
    return history.reads(execution.key().run()).stream()
        .map(RunRead::tasks)
        .flatMap(List::stream)
        .filter(task -> task.id().equals(execution.key().task()))
        .map(TaskRead::attempts)
        .flatMap(List::stream)
        .filter(attempt -> attempt.number() == execution.attempt())
        .map(AttemptRead::outcome)
        .reduce("", (earlier, later) -> later);
  }
}
