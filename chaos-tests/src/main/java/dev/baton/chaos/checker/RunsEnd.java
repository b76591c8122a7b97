package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Invoked;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.RunRead;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * A run ends within a minute without faults, and as it was meant to. Time under a fault does not
 * count, nor does time in which the machine stood still.
 */
final class RunsEnd implements Check {
  static final String NAME = "runs-end";
  private static final long BOUND = 60_000_000_000L;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "A run ends within 60 s of time without faults, as a success unless it was cancelled.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    Set<String> cancelled = new HashSet<>();
    for (Invoked invoked : history.each(Invoked.class)) {
      if (invoked.kind() == Kind.CANCEL) {
        cancelled.add(invoked.run());
      }
    }
    for (Planned plan : history.planned().values()) {
      Optional<RunRead> last = history.lastRead(plan.run());
      if (last.isEmpty()) {
        continue;
      }
      switch (last.get().state()) {
        case RunRead.NOT_FOUND, RunRead.UNREADABLE -> {
          // Another check's matter.
        }
        case RunRead.RUNNING -> {
          collector.looked();
          judgeTime(history, plan, last.get().nanos(), false, collector);
        }
        case RunRead.SUCCESS -> judgeEnd(history, plan, collector);
        case RunRead.CANCELLED -> {
          judgeEnd(history, plan, collector);
          if (!cancelled.contains(plan.run())) {
            collector.broken("run %s is cancelled, but nobody asked".formatted(plan.run()));
          }
        }
        default -> {
          collector.looked();
          collector.broken(
              "run %s (%s) ended as %s: %s"
                  .formatted(plan.run(), plan.shape(), last.get().state(), last.get().tasks()));
        }
      }
    }
    return collector.finding();
  }

  private static void judgeEnd(History history, Planned plan, Collector collector) {
    collector.looked();
    long seen =
        history.reads(plan.run()).stream()
            .filter(read -> !read.state().equals(RunRead.RUNNING))
            .mapToLong(RunRead::nanos)
            .min()
            .orElse(plan.nanos());
    judgeTime(history, plan, seen, true, collector);
  }

  private static void judgeTime(
      History history, Planned plan, long until, boolean ended, Collector collector) {
    long time =
        until
            - plan.nanos()
            - faultyNanos(history, plan.nanos(), until)
            - history.stalledNanos(plan.nanos(), until);
    if (time > BOUND) {
      collector.broken(
          "run %s (%s), submitted %s, %s after %s without faults"
              .formatted(
                  plan.run(),
                  plan.shape(),
                  Moments.of(history, plan.nanos()),
                  ended ? "ended only" : "had not ended",
                  Moments.seconds(time)));
    } else if (!ended) {
      collector.unknown(
          "run %s had not ended after %s without faults, when the history ends"
              .formatted(plan.run(), Moments.seconds(time)));
    }
  }

  private static long faultyNanos(History history, long from, long to) {
    long sum = 0;
    long counted = from;
    for (FaultSpan fault : history.faults()) {
      long start = Math.max(counted, fault.injected());
      long stop = Math.min(to, fault.healed());
      if (stop > start) {
        sum += stop - start;
        counted = stop;
      }
    }
    return sum;
  }
}
