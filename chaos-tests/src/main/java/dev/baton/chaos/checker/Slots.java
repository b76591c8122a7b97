package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.Execution;
import dev.baton.chaos.history.History;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** No worker ever runs more handlers at once than it has slots. */
final class Slots implements Check {
  static final String NAME = "slots";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "No worker runs more handlers at once than it has slots.";
  }

  /** One more handler, or one less. */
  private record Step(long nanos, int change) {}

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    int slots = history.began().map(began -> began.slots()).orElse(Integer.MAX_VALUE);
    Map<String, List<Step>> steps = new HashMap<>();
    for (List<Execution> of : history.executions().values()) {
      for (Execution execution : of) {
        collector.looked();
        List<Step> all = steps.computeIfAbsent(execution.worker(), w -> new ArrayList<>());
        all.add(new Step(execution.started(), 1));
        all.add(new Step(execution.ended(), -1));
      }
    }
    steps.forEach((worker, all) -> {
      all.sort((a, b) ->
          a.nanos() == b.nanos()
              ? Integer.compare(a.change(), b.change())
              : Long.compare(a.nanos(), b.nanos()));
      int running = 0;
      for (Step step : all) {
        running += step.change();
        if (running > slots && step.change() > 0) {
          collector.broken(
              "%s ran %d handlers %s and has %d slots"
                  .formatted(worker, running, Moments.of(history, step.nanos()), slots));
        }
      }
    });
    return collector.finding();
  }
}
