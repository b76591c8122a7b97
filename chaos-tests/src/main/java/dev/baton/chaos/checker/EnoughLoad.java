package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Invoked;
import java.util.LinkedHashMap;
import java.util.Map;

/** A round says something only if clients were busy between injection and healing. */
final class EnoughLoad implements Check {
  static final String NAME = "enough-load";
  static final int LEAST_OPERATIONS = 50;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "At least 50 operations of clients began between the injection and the healing of each"
        + " round.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    Map<Integer, Long> operations = operations(history);
    if (operations.isEmpty()) {
      collector.unknown("no fault was injected");
    }
    operations.forEach((round, count) -> {
      collector.looked();
      if (count < LEAST_OPERATIONS) {
        collector.unknown("in round %d only %d operations began".formatted(round, count));
      }
    });
    return collector.finding();
  }

  /** Operations that began between the first injection of each round and its healing. */
  static Map<Integer, Long> operations(History history) {
    Map<Integer, Long> counts = new LinkedHashMap<>();
    Map<Integer, FaultSpan> first = new LinkedHashMap<>();
    history.faults().forEach(fault -> first.putIfAbsent(fault.round(), fault));
    first.forEach((round, fault) ->
        counts.put(
            round,
            history.each(Invoked.class).stream()
                .filter(i -> i.nanos() >= fault.injected() && i.nanos() <= fault.healed())
                .count()));
    return counts;
  }
}
