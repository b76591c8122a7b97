package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.History;

/** Each fail-over is within the bound of its kind of fault. */
final class FailoverBounds implements Check {
  static final String NAME = "fail-over-time";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "After each fault tasks are assigned again within the bound of its kind.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    for (FailoverTimes time : FailoverTimes.of(history)) {
      collector.looked();
      long bound = time.fault().boundMillis() * 1_000_000;
      long until = time.from() + (time.nanos() < 0 ? bound : time.nanos());
      String what =
          "round %d, %s to %s %s"
              .formatted(
                  time.fault().round(),
                  time.fault().name(),
                  time.fault().targets(),
                  Moments.of(history, time.from()));
      if (time.nanos() >= 0 && time.nanos() <= bound) {
        continue;
      }
      boolean stalled = time.nanos() - history.stalledNanos(time.from(), until) <= bound;
      if (time.nanos() < 0 && history.end() - time.from() < bound) {
        collector.unknown(what + ": the history ends before its bound");
      } else if (time.nanos() >= 0 && stalled) {
        collector.unknown(what + ": the machine stood still meanwhile");
      } else if (time.nanos() < 0) {
        collector.broken(what + ": nothing was assigned afterwards");
      } else {
        collector.broken(
            "%s: tasks were assigned again after %s, its bound is %s"
                .formatted(what, Moments.seconds(time.nanos()), Moments.seconds(bound)));
      }
    }
    return collector.finding();
  }
}
