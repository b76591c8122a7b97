package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.WorkerLife;
import java.util.Map;

/** A durable fact that the engine decided. What follows from it is computed when it is applied. */
public sealed interface Event {
  /** A new leader has opened its term. */
  record TermOpened(String nodeId) implements Event {}

  /** A definition is known by a number from now on. */
  record SpecAdded(long number, SpecHash hash) implements Event {}

  /** A definition that nobody uses leaves the state; its number is never used again. */
  record SpecDropped(long number) implements Event {}

  /** A run exists. {@code key} is empty if the user gave none. */
  record RunCreated(
      long number,
      RunId id,
      long spec,
      String tenant,
      Map<String, String> labels,
      String actor,
      String key,
      long bodyHash,
      RunParams params)
      implements Event {
    public RunCreated {
      labels = Map.copyOf(labels);
    }
  }

  /** A small number stands for a worker's process life from now on, until no live run names it. */
  record WorkerNamed(int ref, WorkerLife life) implements Event {}

  /** An attempt belongs to a worker; the only event by which attempt numbers grow. */
  record AttemptAssigned(AttemptRef attempt, int worker) implements Event {}

  /** A worker turned out to hold an attempt that was an older life's, or was given up as lost. */
  record AttemptAdopted(AttemptRef attempt, int worker) implements Event {}

  /**
   * An attempt has ended.
   *
   * @param retryAfterMs the task goes on and its next attempt is due so long after this event;
   *     {@link #FINAL}: the task ends with this outcome
   */
  record AttemptEnded(
      AttemptRef attempt,
      Outcome outcome,
      Output output,
      String reason,
      int durationMs,
      long retryAfterMs)
      implements Event {
    /** No further attempt follows. */
    public static final long FINAL = -1;

    public boolean isFinal() {
      return retryAfterMs == FINAL;
    }
  }

  /** Somebody asked for the run to stop. */
  record RunCancelled(long run, String actor, String reason) implements Event {}

  /** The time of the whole run was over. */
  record RunTimedOut(long run) implements Event {}

  /** A run that had ended leaves the state; its record is in the history. */
  record RunRetired(long run, int parts) implements Event {}

  /** The history up to and with this entry is forgotten. */
  record HistoryDropped(long seq) implements Event {}

  /**
   * A worker gets nothing new until it is uncordoned; whatever stood there for it before is
   * replaced.
   *
   * @param drainedIncarnation the process life that is to end, too; empty: none
   */
  record WorkerCordoned(String workerId, String drainedIncarnation, String actor)
      implements Event {}

  /** A worker is in service again. */
  record WorkerUncordoned(String workerId) implements Event {}

  /** A snapshot taken at this entry is the one to load. */
  record SnapshotInstalled(long seq) implements Event {}
}
