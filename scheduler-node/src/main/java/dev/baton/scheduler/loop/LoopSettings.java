package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.Limits;
import java.time.Duration;

/**
 * How a loop is set up.
 *
 * @param maxLiveTasks tasks of all live runs; submissions past it are refused
 * @param retainRuns ended runs that stay readable
 * @param retainFor how long at most
 * @param snapshotBytes bytes of journal after which a snapshot is taken
 * @param snapshotEntries entries after which one is taken
 * @param upkeep when what nobody needs is given up
 */
public record LoopSettings(
    String nodeId,
    int maxLiveTasks,
    int retainRuns,
    Duration retainFor,
    long snapshotBytes,
    int snapshotEntries,
    Upkeep upkeep) {
  /**
   * Intervals that no user sets. A simulation sets them short: what happens every few minutes would
   * otherwise hardly ever meet a fault.
   *
   * @param rememberIds ids of ended runs are remembered at least so long, whatever retention says
   * @param specUnused a definition that no run has used for so long is dropped
   * @param orphansEvery between two looks for keys that nobody names
   */
  public record Upkeep(Duration rememberIds, Duration specUnused, Duration orphansEvery) {
    /** What production has. */
    public static final Upkeep DEFAULT =
        new Upkeep(Limits.REMEMBER_IDS, Limits.SPEC_UNUSED, Limits.ORPHANS_EVERY);
  }

  public LoopSettings(
      String nodeId,
      int maxLiveTasks,
      int retainRuns,
      Duration retainFor,
      long snapshotBytes,
      int snapshotEntries) {
    this(
        nodeId,
        maxLiveTasks,
        retainRuns,
        retainFor,
        snapshotBytes,
        snapshotEntries,
        Upkeep.DEFAULT);
  }

  /** What docs/operations.md gives reasons for. */
  public static LoopSettings defaults(String nodeId) {
    return new LoopSettings(nodeId, 500_000, 100_000, Duration.ofDays(7), 64L << 20, 100_000);
  }
}
