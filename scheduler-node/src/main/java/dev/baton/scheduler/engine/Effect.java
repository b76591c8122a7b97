package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.WorkerLife;
import java.util.List;

/** What is to be said once everything that was decided before it is durable. */
public sealed interface Effect {
  /** Hand an attempt to its worker, for the first time or again. */
  record SendAssign(WorkerLife to, AttemptRef attempt) implements Effect {}

  /** Tell a worker to stop an attempt. */
  record SendCancel(WorkerLife to, AttemptName name, String reason) implements Effect {}

  /** End a worker's duty to keep a result or a return. */
  record SendAck(WorkerLife to, AttemptName name, Verdict verdict) implements Effect {}

  /** Ask a worker's process to end. */
  record SendDrain(WorkerLife to) implements Effect {}

  /** What a worker hears about a result. */
  enum Verdict {
    ACCEPTED,
    DUPLICATE,
    STALE,
    UNKNOWN
  }

  /** Answer a caller. */
  record Reply(CallId call, Answer answer) implements Effect {}

  /** What a caller hears. */
  sealed interface Answer {
    record Submitted(RunId id, boolean existing, List<String> warnings) implements Answer {}

    /** The key belongs to a run that has left the state: its id stands in the history. */
    record SubmittedBefore(long historySeq, String tenant, String key) implements Answer {}

    record CancelRecorded(RunStatus status) implements Answer {}

    /** A worker is cordoned, or is not any more. */
    record ServiceRecorded() implements Answer {}

    record Refused(Refusal refusal) implements Answer {}
  }
}
