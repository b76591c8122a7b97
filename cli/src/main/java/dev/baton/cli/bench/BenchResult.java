package dev.baton.cli.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a benchmark measured; the names of its fields are those of its JSON. Everything counts after
 * the warm-up, the first tenth of the runs, but what is called cold.
 *
 * @param seconds measured time
 * @param tasksEnded results that were accepted, as counted in etcd, with the warm-up
 * @param tasksFailed those of them that were no success
 * @param runsRefused submissions that came to nothing
 * @param handlerStarts by the workers' traces; more than {@code tasksEnded} where some ran again
 * @param runLatencyMs from the submission to the last task's end in the journal
 * @param hopLatencyMs from a handler's end to its successor's start
 * @param journalBytesPerTask values of all entries without definitions and outputs
 * @param failoverMs null without faults
 * @param steady null unless the cluster was left alone under half of the load
 * @param memory null unless it was asked for
 */
public record BenchResult(
    Setup setup,
    double seconds,
    long runsEnded,
    long runsRefused,
    long tasksEnded,
    long tasksFailed,
    long handlerStarts,
    double runsPerSecond,
    double tasksPerSecond,
    double coldTasksPerSecond,
    Percentiles runLatencyMs,
    Percentiles hopLatencyMs,
    double journalBytesPerTask,
    double tasksPerJournalEntry,
    CpuMicrosPerTask cpuMicrosPerTask,
    @Nullable Failover failoverMs,
    @Nullable Steady steady,
    @Nullable Memory memory) {
  /** What was asked for, and of which machine. */
  public record Setup(
      String version,
      String shape,
      int runs,
      int concurrency,
      int payloadBytes,
      int preloadTasks,
      @Nullable String fault,
      int rounds,
      int schedulers,
      int etcdMembers,
      int workers,
      int slots,
      int cores) {}

  /**
   * CPU time by the tasks that ended meanwhile.
   *
   * @param schedulers the leader and the standbys together
   */
  public record CpuMicrosPerTask(
      double etcd, double schedulers, double leader, double worker, double client) {}

  /**
   * From the signal to a worker's receipt of the first assignment that was decided in the new term.
   *
   * @param missing rounds after which no worker received one
   * @param quietStartGap the longest time of each round without a handler's start, in the 5 s
   *     before the signal and the 5 s before the node is started again
   * @param returnStartGap the same from the moment the node is started again until it is ready
   * @param peakRunsPerSecond with all the concurrency, before the first round
   * @param pacedRunsPerSecond at most so many were submitted from then on: half of the peak
   */
  public record Failover(
      double p50,
      double p99,
      double max,
      List<Double> rounds,
      int missing,
      Percentiles quietStartGap,
      Percentiles returnStartGap,
      double peakRunsPerSecond,
      double pacedRunsPerSecond) {}

  /**
   * What became of a leader that nothing happened to.
   *
   * @param leaderChanges terms that began meanwhile: 0 as long as nobody deposes a healthy leader
   * @param wrongGuesses depositions of leaders that were not dead, by the schedulers' own count
   * @param runsPerSecond that ended
   */
  public record Steady(
      double seconds,
      int busyLoops,
      int leaderChanges,
      long wrongGuesses,
      double runsPerSecond,
      double peakRunsPerSecond,
      double pacedRunsPerSecond) {}

  /**
   * What the load left behind.
   *
   * @param etcdInUseBytesMax size in use of a member, at most
   */
  public record Memory(long etcdInUseBytesMax, List<Heap> leaderHeaps) {}

  /** Live objects of the leader after a full collection, and what was done by then. */
  public record Heap(long tasksEnded, long liveBytes, long retainedRuns) {}
}
