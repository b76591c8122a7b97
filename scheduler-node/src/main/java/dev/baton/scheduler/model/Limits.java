package dev.baton.scheduler.model;

import java.time.Duration;

/**
 * Every limit and interval of the scheduler that is not configured; docs/operations.md gives the
 * reasons.
 */
public final class Limits {
  /** An output or run parameters up to this stand in the journal. */
  public static final int INLINE_BYTES = 2 << 10;

  /** The longest output, and the longest run parameters. */
  public static final int STORED_BYTES = 256 << 10;

  /** The longest reason of an attempt's end that is kept, in characters. */
  public static final int REASON_CHARS = 1024;

  /** The most slots a worker is taken to have. */
  public static final int MAX_SLOTS = 5_000;

  /** Workers that are out of service at a time. */
  public static final int MAX_CORDONS = 1_000;

  /** Attempts of one worker that are given up in one decision. */
  public static final int LOSS_SLICE = 256;

  /** Returned attempts of a task that are remembered; older ones are forgotten. */
  public static final int RETURNS_KEPT = 10;

  /** What a history record may measure to stand in its entry; a longer one goes in parts. */
  public static final int HISTORY_INLINE_BYTES = 64 << 10;

  /** One part of a long history record, one chunk of a snapshot. */
  public static final int PART_BYTES = 256 << 10;

  /** How long a run that has ended stays in memory, for the reads that follow its end. */
  public static final Duration RETIRE_AFTER = Duration.ofSeconds(2);

  /** From here on ended runs leave memory at once. */
  public static final int RETIRE_AT_ONCE = 5_000;

  /** The scheduler's own timeout fires so long after the worker's. */
  public static final Duration BACKSTOP = Duration.ofSeconds(10);

  /** A worker that does not answer pings for so long gets nothing new. */
  public static final Duration SUSPECT_AFTER = Duration.ofSeconds(3);

  /** A worker that is suspect for so long is lost. */
  public static final Duration LOST_AFTER = Duration.ofSeconds(30);

  /** A new leader waits so long for inventories before it gives up what it cannot see. */
  public static final Duration INVENTORY_GRACE = Duration.ofSeconds(2);

  /** How often a worker's inventory is asked for. */
  public static final Duration INVENTORY_EVERY = Duration.ofSeconds(30);

  /** A definition that no run has used for so long is dropped. */
  public static final Duration SPEC_UNUSED = Duration.ofMinutes(10);

  /** How often keys are looked for that nobody names. */
  public static final Duration ORPHANS_EVERY = Duration.ofMinutes(10);

  /** Every so many assignments of a type, one goes to a lower priority that waits. */
  public static final int TURN_OF_LOWER_PRIORITY = 20;

  /** Ids of ended runs are remembered at least so long, whatever retention says. */
  public static final Duration REMEMBER_IDS = Duration.ofMinutes(10);

  private Limits() {}
}
