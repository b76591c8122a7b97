package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Invoked;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import dev.baton.chaos.history.Observation.RunRead;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A run ends within a minute without faults, and as it was meant to. Time under a fault does not
 * count, nor does time in which the machine stood still. A run that no client ever heard of was not
 * followed: it had ended when its last handler had.
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
    Set<String> followed = new HashSet<>();
    for (Returned returned : history.each(Returned.class)) {
      if (returned.result() == Result.OK) {
        followed.add(returned.run());
      }
    }
    Map<String, Long> lastWork = new HashMap<>();
    history
        .executions()
        .forEach((task, of) ->
            of.forEach(execution -> lastWork.merge(task.run(), execution.ended(), Math::max)));
    for (Planned plan : history.planned().values()) {
      Optional<RunRead> last = history.lastRead(plan.run());
      if (last.isEmpty()) {
        continue;
      }
      switch (last.get().state()) {
        case RunRead.NOT_FOUND, RunRead.UNREADABLE -> {
          // Another check's matter.
        }
        case RunRead.RUNNING -> judgeTime(history, plan, last.get().nanos(), false, collector);
        case RunRead.SUCCESS -> {
          long end = followed.contains(plan.run()) ? seen(history, plan) : worked(lastWork, plan);
          judgeTime(history, plan, end, true, collector);
        }
        case RunRead.CANCELLED -> {
          judgeTime(history, plan, seen(history, plan), true, collector);
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

  /** When a client first saw that it had ended. */
  private static long seen(History history, Planned plan) {
    return history.reads(plan.run()).stream()
        .filter(read -> !read.state().equals(RunRead.RUNNING))
        .mapToLong(RunRead::nanos)
        .min()
        .orElse(plan.nanos());
  }

  private static long worked(Map<String, Long> lastWork, Planned plan) {
    return lastWork.getOrDefault(plan.run(), plan.nanos());
  }

  private static void judgeTime(
      History history, Planned plan, long until, boolean ended, Collector collector) {
    collector.looked();
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
