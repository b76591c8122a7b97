package dev.baton.chaos.checker;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * What came of a chaos run. Its JSON is {@code verdict.json}: a field may be added, never renamed.
 *
 * @param rounds with at least one fault
 * @param runsSubmitted acknowledged submissions of different runs
 * @param runsEnded of all planned runs
 * @param lost acknowledged runs that are not there at the end
 * @param duplicateCompletions tasks with more than one accepted result
 * @param unfencedWrites to the journal by somebody who did not lead
 * @param rerunsOfFinishedTasks handlers started after their task had an accepted result
 * @param rerunsOfRunningTasks handlers started while an earlier attempt ran on a live worker
 * @param failoverMs from the fault to the first new assignment received
 * @param workerLossMs from a worker's death to the next start of each task that it ran
 * @param secondExecutions executions of a task after its first, by reason
 * @param stalledMs how long the machine stood still altogether
 */
public record Verdict(
    String scenario,
    long seed,
    String environment,
    String version,
    int rounds,
    Outcome verdict,
    long runsSubmitted,
    long runsEnded,
    long lost,
    long duplicateCompletions,
    long unfencedWrites,
    long rerunsOfFinishedTasks,
    long rerunsOfRunningTasks,
    Milliseconds failoverMs,
    Milliseconds workerLossMs,
    Map<String, Long> secondExecutions,
    List<CheckResult> checks,
    List<Round> roundDetails,
    List<SkippedFault> skipped,
    long stalledMs) {
  public Verdict {
    secondExecutions = Map.copyOf(secondExecutions);
    checks = List.copyOf(checks);
    roundDetails = List.copyOf(roundDetails);
    skipped = List.copyOf(skipped);
  }

  /** Times in milliseconds; 0 where there was none. */
  public record Milliseconds(int count, long p50, long p99, long max) {}

  /**
   * One promise.
   *
   * @param looked how many things were judged
   * @param violations how many broke it
   * @param evidence the first of them, in sentences
   */
  public record CheckResult(
      String name,
      String promise,
      Outcome outcome,
      long looked,
      long violations,
      List<String> evidence) {
    public CheckResult {
      evidence = List.copyOf(evidence);
    }
  }

  /**
   * One fault.
   *
   * @param failoverMs -1: none was expected, or none came
   * @param operations of clients between the injection and the healing of its round
   */
  public record Round(
      int round,
      String fault,
      List<String> targets,
      double injectedSeconds,
      double healedSeconds,
      String nextLeader,
      long failoverMs,
      long boundMs,
      long operations) {
    public Round {
      targets = List.copyOf(targets);
    }
  }

  /** A fault that the environment can't make, and why. */
  public record SkippedFault(String fault, @JsonProperty("reason") String reason) {}
}
