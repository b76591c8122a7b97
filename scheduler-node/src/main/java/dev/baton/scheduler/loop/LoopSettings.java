package dev.baton.scheduler.loop;

import java.time.Duration;

/**
 * How a loop is set up.
 *
 * @param maxLiveTasks tasks of all live runs; submissions past it are refused
 * @param retainRuns ended runs that stay readable
 * @param retainFor how long at most
 * @param snapshotBytes bytes of journal after which a snapshot is taken
 * @param snapshotEntries entries after which one is taken
 */
public record LoopSettings(
    String nodeId,
    int maxLiveTasks,
    int retainRuns,
    Duration retainFor,
    long snapshotBytes,
    int snapshotEntries) {
  /** What docs/operations.md gives reasons for. */
  public static LoopSettings defaults(String nodeId) {
    return new LoopSettings(nodeId, 500_000, 100_000, Duration.ofDays(7), 64L << 20, 100_000);
  }
}
