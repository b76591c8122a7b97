package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Reruns.Rerun;
import dev.baton.chaos.checker.Verdict.CheckResult;
import dev.baton.chaos.checker.Verdict.Milliseconds;
import dev.baton.chaos.checker.Verdict.Round;
import dev.baton.chaos.checker.Verdict.SkippedFault;
import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Began;
import dev.baton.chaos.history.Observation.Healed;
import dev.baton.chaos.history.Observation.Invoked;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.Skipped;
import dev.baton.chaos.history.Observation.Stalled;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Applies all checks to a history. The same history always gives the same verdict. */
public final class Judge {
  private static final List<Check> CHECKS =
      List.of(
          new CommittedRuns(),
          new AcceptedResults(),
          new DagOrder(),
          new NeverTwoAtOnce(),
          new Writers(),
          new FailoverBounds(),
          new Slots(),
          new RunsEnd(),
          new Reruns(),
          new EnoughLoad());

  private Judge() {}

  public static Verdict judge(History history) {
    List<CheckResult> results = new ArrayList<>();
    Outcome worst = Outcome.VALID;
    Map<String, Finding> findings = new HashMap<>();
    for (Check check : CHECKS) {
      Finding finding = check.judge(history);
      findings.put(check.name(), finding);
      worst = worst.and(finding.outcome());
      results.add(
          new CheckResult(
              check.name(),
              check.promise(),
              finding.outcome(),
              finding.looked(),
              finding.violations(),
              finding.evidence()));
    }
    if (worst == Outcome.UNKNOWN && isWhollySkipped(history)) {
      worst = Outcome.SKIPPED;
    }
    List<Rerun> reruns = Reruns.of(history);
    Set<Integer> rounds = new TreeSet<>();
    history.faults().forEach(fault -> rounds.add(fault.round()));
    Began began = history.began().orElse(new Began(0, 0, "unknown", 0, "unknown", "unknown", 0, 0));
    return new Verdict(
        began.scenario(),
        began.seed(),
        began.environment(),
        began.version(),
        rounds.size(),
        worst,
        submitted(history),
        ended(history),
        violations(findings, CommittedRuns.NAME),
        AcceptedResults.duplicates(history),
        violations(findings, Writers.NAME),
        reruns.stream().filter(Rerun::finished).count(),
        reruns.stream().filter(Rerun::running).count(),
        percentiles(
            FailoverTimes.of(history).stream()
                .filter(time -> time.nanos() >= 0)
                .map(FailoverTimes::millis)
                .toList()),
        percentiles(LossTimes.of(history)),
        Reruns.reasons(reruns),
        results,
        rounds(history, began.nanos()),
        history.each(Skipped.class).stream()
            .map(skipped -> new SkippedFault(skipped.fault(), skipped.reason()))
            .toList(),
        history.each(Stalled.class).stream().mapToLong(Stalled::millis).sum());
  }

  /** No round began: the environment can't make the faults. */
  private static boolean isWhollySkipped(History history) {
    return !history.each(Skipped.class).isEmpty()
        && history.faults().isEmpty()
        && history.each(Healed.class).isEmpty();
  }

  private static long violations(Map<String, Finding> findings, String name) {
    Finding finding = findings.get(name);
    return finding == null ? 0 : finding.violations();
  }

  /** Runs whose submission was acknowledged, and those that are there although it was not. */
  private static long submitted(History history) {
    Set<Long> submissions = new HashSet<>();
    for (Invoked invoked : history.each(Invoked.class)) {
      if (invoked.kind() == Kind.SUBMIT) {
        submissions.add(invoked.op());
      }
    }
    Set<String> runs = new HashSet<>();
    history.each(Returned.class).stream()
        .filter(r -> r.result() == Result.OK && submissions.contains(r.op()))
        .map(Returned::run)
        .forEach(runs::add);
    history.planned().keySet().stream().filter(run -> isThere(history, run)).forEach(runs::add);
    return runs.size();
  }

  private static boolean isThere(History history, String run) {
    return history
        .lastRead(run)
        .map(RunRead::state)
        .filter(state -> !state.equals(RunRead.NOT_FOUND) && !state.equals(RunRead.UNREADABLE))
        .isPresent();
  }

  private static long ended(History history) {
    return history.planned().keySet().stream()
        .filter(run -> isThere(history, run))
        .flatMap(run -> history.lastRead(run).stream())
        .filter(read -> !read.state().equals(RunRead.RUNNING))
        .count();
  }

  /** By nearest rank, so that each figure is one that was measured. */
  static Milliseconds percentiles(List<Long> times) {
    if (times.isEmpty()) {
      return new Milliseconds(0, 0, 0, 0);
    }
    List<Long> sorted = times.stream().sorted().toList();
    return new Milliseconds(
        sorted.size(), rank(sorted, 0.50), rank(sorted, 0.99), sorted.getLast());
  }

  private static long rank(List<Long> sorted, double part) {
    return sorted.get((int) Math.ceil(part * sorted.size()) - 1);
  }

  private static List<Round> rounds(History history, long zero) {
    Map<Integer, Long> operations = EnoughLoad.operations(history);
    Map<FaultSpan, FailoverTimes> times = new HashMap<>();
    FailoverTimes.of(history).forEach(time -> times.put(time.fault(), time));
    return history.faults().stream()
        .map(fault -> {
          FailoverTimes time = times.get(fault);
          return new Round(
              fault.round(),
              fault.name(),
              fault.targets(),
              seconds(fault.injected() - zero),
              seconds(fault.healed() - zero),
              time == null ? "" : time.leader(),
              time == null ? -1 : time.millis(),
              fault.boundMillis(),
              operations.getOrDefault(fault.round(), 0L));
        })
        .toList();
  }

  private static double seconds(long nanos) {
    return Math.round(nanos / 1e6) / 1e3;
  }
}
