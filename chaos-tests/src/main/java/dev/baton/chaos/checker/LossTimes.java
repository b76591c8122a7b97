package dev.baton.chaos.checker;

import dev.baton.chaos.history.Execution;
import dev.baton.chaos.history.Execution.Ending;
import dev.baton.chaos.history.History;
import java.util.ArrayList;
import java.util.List;

/** How long tasks stood still whose worker died. */
final class LossTimes {
  private LossTimes() {}

  /** From the death of a worker to the next start of each task that it ran, in milliseconds. */
  static List<Long> of(History history) {
    List<Long> times = new ArrayList<>();
    for (List<Execution> task : history.executions().values()) {
      for (int i = 0; i + 1 < task.size(); i++) {
        Execution cut = task.get(i);
        long next = task.get(i + 1).started();
        if (cut.ending() == Ending.CUT && next >= cut.ended()) {
          times.add(Math.round((next - cut.ended()) / 1e6));
        }
      }
    }
    return times;
  }
}
