package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.Workflow;
import java.util.List;
import java.util.Map;

/** A request or a happening that the engine decides on. */
public sealed interface Command {
  /** This node has won the election. */
  record OpenTerm(String nodeId) implements Command {}

  /** Start a run. {@code key} is empty if the user gave none. */
  record Submit(
      CallId call,
      RunId id,
      SpecHash hash,
      Workflow workflow,
      String tenant,
      Map<String, String> labels,
      String actor,
      String key,
      long bodyHash,
      RunParams params,
      boolean requireWorkers)
      implements Command {}

  /** Stop a run. */
  record Cancel(CallId call, RunId id, String actor, String reason) implements Command {}

  /** Give the next waiting task to a worker, if one has room for it. */
  record AssignNext() implements Command {}

  /** A worker says how an attempt ended. */
  record TakeResult(WorkerLife from, AttemptName name, Result result) implements Command {}

  /** A worker had no room for an attempt. */
  record TakeReturn(WorkerLife from, AttemptName name) implements Command {}

  /** A worker was told to stop an attempt that it does not hold, and will never start. */
  record TakeCancelUnknown(WorkerLife from, AttemptName name) implements Command {}

  /**
   * A worker says everything that it holds.
   *
   * @param lingering they have ended and are judged, but still fill slots
   */
  record TakeInventory(
      WorkerLife from,
      List<AttemptName> running,
      List<AttemptName> results,
      List<AttemptName> returned,
      List<AttemptName> lingering)
      implements Command {}

  /** Give up what a worker that is gone was running; repeated until nothing is left. */
  record LoseWorker(WorkerLife life, String reason) implements Command {}

  /** The parameters of an attempt could not be computed. */
  record FailInputs(AttemptRef attempt, String reason) implements Command {}

  /** The worker should have ended this attempt long ago. */
  record TimeOutAttempt(AttemptRef attempt) implements Command {}

  /** The time of the whole run is over. */
  record TimeOutRun(long run) implements Command {}

  /** The record of a run that has ended goes into the history with this entry. */
  record Retire(long run, int parts) implements Command {}

  /** Retention has come to the end of what it keeps. */
  record DropHistory(long seq) implements Command {}

  /** A snapshot is complete and checked. */
  record InstallSnapshot(long seq) implements Command {}

  /** A definition has been unused for long. */
  record DropSpec(long number) implements Command {}

  /**
   * Give a worker nothing new.
   *
   * @param drain its process is to end, too
   * @param incarnation the process that is meant; empty: the one that is registered
   */
  record Cordon(CallId call, String workerId, boolean drain, String incarnation, String actor)
      implements Command {}

  /** Take a worker into service again. */
  record Uncordon(CallId call, String workerId) implements Command {}

  /**
   * How an attempt ended, by its worker's word.
   *
   * @param outcome SUCCESS, FAILED, TIMEOUT or CANCELLED
   * @param isFinal the handler wants no further attempt
   */
  record Result(Outcome outcome, Output output, String reason, int durationMs, boolean isFinal) {}

  /** Stands for a caller who waits. */
  record CallId(long number) {}
}
