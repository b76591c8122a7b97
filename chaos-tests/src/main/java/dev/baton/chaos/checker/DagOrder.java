package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.Execution;
import dev.baton.chaos.history.Execution.Ending;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.PlannedTask;
import dev.baton.chaos.history.TaskKey;
import java.util.OptionalLong;

/** No handler starts before one of each task it depends on has ended, in real time. */
final class DagOrder implements Check {
  static final String NAME = "dag-order";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "No handler starts before those of all tasks that it depends on have ended.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    for (Planned plan : history.planned().values()) {
      for (PlannedTask task : plan.tasks()) {
        for (String before : task.dependsOn()) {
          TaskKey parent = new TaskKey(plan.run(), before);
          for (Execution execution : history.executions(new TaskKey(plan.run(), task.id()))) {
            collector.looked();
            judge(history, parent, execution, plan.nanos(), collector);
          }
        }
      }
    }
    return collector.finding();
  }

  private static void judge(
      History history, TaskKey parent, Execution child, long from, Collector collector) {
    OptionalLong ended =
        history.executions(parent).stream()
            .filter(execution -> execution.ending() != Ending.OPEN)
            .mapToLong(Execution::ended)
            .min();
    boolean inTime = ended.isPresent() && ended.getAsLong() <= child.started();
    if (inTime) {
      return;
    }
    boolean excused =
        history.executions(parent).isEmpty()
            && Traces.anyMayBeUnwritten(history, from, child.started());
    if (!excused) {
      collector.broken(
          "%s started %s on %s, but %s, which it depends on, had not ended"
              .formatted(
                  child.key(),
                  Moments.of(history, child.started()),
                  child.worker(),
                  parent.task()));
    }
  }
}
