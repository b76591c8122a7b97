package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.proto.journal.v1.AttemptAdopted;
import dev.baton.proto.journal.v1.AttemptAssigned;
import dev.baton.proto.journal.v1.AttemptEnded;
import dev.baton.proto.journal.v1.HistoryDropped;
import dev.baton.proto.journal.v1.RunCancelled;
import dev.baton.proto.journal.v1.RunCreated;
import dev.baton.proto.journal.v1.RunRetired;
import dev.baton.proto.journal.v1.RunTimedOut;
import dev.baton.proto.journal.v1.SnapshotInstalled;
import dev.baton.proto.journal.v1.SpecAdded;
import dev.baton.proto.journal.v1.SpecDropped;
import dev.baton.proto.journal.v1.TermOpened;
import dev.baton.proto.journal.v1.WorkerCordoned;
import dev.baton.proto.journal.v1.WorkerNamed;
import dev.baton.proto.journal.v1.WorkerUncordoned;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.WorkerLife;
import java.nio.ByteBuffer;

/** Events as they are stored. */
final class EventCodec {
  static final String DEFAULT_TENANT = "default";

  private EventCodec() {}

  /**
   * The bytes' message.
   *
   * @param after ms since the entry was opened
   */
  static dev.baton.proto.journal.v1.Event encode(Event event, long after) {
    var proto = dev.baton.proto.journal.v1.Event.newBuilder().setAt(unsigned(after));
    switch (event) {
      case Event.AttemptAssigned(AttemptRef a, int worker) ->
          proto.setAttemptAssigned(
              AttemptAssigned.newBuilder()
                  .setRun(a.run())
                  .setTask(a.task())
                  .setAttempt(a.attempt())
                  .setWorker(worker));
      case Event.AttemptAdopted(AttemptRef a, int worker) ->
          proto.setAttemptAdopted(
              AttemptAdopted.newBuilder()
                  .setRun(a.run())
                  .setTask(a.task())
                  .setAttempt(a.attempt())
                  .setWorker(worker));
      case Event.AttemptEnded ended -> proto.setAttemptEnded(encode(ended));
      case Event.RunCreated created -> proto.setRunCreated(encode(created));
      case Event.RunRetired(long run, int parts) ->
          proto.setRunRetired(RunRetired.newBuilder().setRun(run).setParts(parts));
      case Event.WorkerNamed named -> proto.setWorkerNamed(encode(named));
      case Event.SpecAdded(long number, SpecHash hash) ->
          proto.setSpecAdded(
              SpecAdded.newBuilder().setNumber(number).setHash(ByteString.copyFrom(hash.bytes())));
      case Event.SpecDropped(long number) ->
          proto.setSpecDropped(SpecDropped.newBuilder().setNumber(number));
      case Event.TermOpened(String nodeId) ->
          proto.setTermOpened(TermOpened.newBuilder().setNodeId(nodeId));
      case Event.RunCancelled(long run, String actor, String reason) ->
          proto.setRunCancelled(
              RunCancelled.newBuilder().setRun(run).setActor(actor).setReason(reason));
      case Event.RunTimedOut(long run) ->
          proto.setRunTimedOut(RunTimedOut.newBuilder().setRun(run));
      case Event.SnapshotInstalled(long seq) ->
          proto.setSnapshotInstalled(SnapshotInstalled.newBuilder().setSeq(seq));
      case Event.HistoryDropped(long seq) ->
          proto.setHistoryDropped(HistoryDropped.newBuilder().setSeq(seq));
      case Event.WorkerCordoned cordoned -> proto.setWorkerCordoned(encode(cordoned));
      case Event.WorkerUncordoned(String worker) ->
          proto.setWorkerUncordoned(WorkerUncordoned.newBuilder().setWorkerId(worker));
    }
    return proto.build();
  }

  /** A delay can be 30 days, which is more than fits into a positive int. */
  private static int unsigned(long millis) {
    if (millis < 0 || millis > 0xffff_ffffL) {
      throw new IllegalArgumentException("Expected up to 49 days in ms, but got " + millis);
    }
    return (int) millis;
  }

  static Event decode(dev.baton.proto.journal.v1.Event proto) {
    return switch (proto.getKindCase()) {
      case ATTEMPT_ASSIGNED -> {
        AttemptAssigned a = proto.getAttemptAssigned();
        yield new Event.AttemptAssigned(
            new AttemptRef(a.getRun(), a.getTask(), a.getAttempt()), a.getWorker());
      }
      case ATTEMPT_ADOPTED -> {
        AttemptAdopted a = proto.getAttemptAdopted();
        yield new Event.AttemptAdopted(
            new AttemptRef(a.getRun(), a.getTask(), a.getAttempt()), a.getWorker());
      }
      case ATTEMPT_ENDED -> decode(proto.getAttemptEnded());
      case RUN_CREATED -> decode(proto.getRunCreated());
      case RUN_RETIRED ->
          new Event.RunRetired(proto.getRunRetired().getRun(), proto.getRunRetired().getParts());
      case WORKER_NAMED -> decode(proto.getWorkerNamed());
      case SPEC_ADDED ->
          new Event.SpecAdded(
              proto.getSpecAdded().getNumber(),
              SpecHash.of(proto.getSpecAdded().getHash().toByteArray()));
      case SPEC_DROPPED -> new Event.SpecDropped(proto.getSpecDropped().getNumber());
      case TERM_OPENED -> new Event.TermOpened(proto.getTermOpened().getNodeId());
      case RUN_CANCELLED -> {
        RunCancelled c = proto.getRunCancelled();
        yield new Event.RunCancelled(c.getRun(), c.getActor(), c.getReason());
      }
      case RUN_TIMED_OUT -> new Event.RunTimedOut(proto.getRunTimedOut().getRun());
      case SNAPSHOT_INSTALLED -> new Event.SnapshotInstalled(proto.getSnapshotInstalled().getSeq());
      case HISTORY_DROPPED -> new Event.HistoryDropped(proto.getHistoryDropped().getSeq());
      case WORKER_CORDONED -> decode(proto.getWorkerCordoned());
      case WORKER_UNCORDONED ->
          new Event.WorkerUncordoned(proto.getWorkerUncordoned().getWorkerId());
      case KIND_NOT_SET ->
          throw new UnknownEventException(
              "The journal holds a kind of event that this version does not know: upgrade this node.");
    };
  }

  static WorkerNamed encode(Event.WorkerNamed named) {
    return WorkerNamed.newBuilder()
        .setRef(named.ref())
        .setWorkerId(named.life().workerId())
        .setIncarnation(named.life().incarnation())
        .build();
  }

  static Event.WorkerNamed decode(WorkerNamed proto) {
    return new Event.WorkerNamed(
        proto.getRef(), new WorkerLife(proto.getWorkerId(), proto.getIncarnation()));
  }

  static WorkerCordoned encode(Event.WorkerCordoned cordoned) {
    return WorkerCordoned.newBuilder()
        .setWorkerId(cordoned.workerId())
        .setDrainedIncarnation(cordoned.drainedIncarnation())
        .setActor(cordoned.actor())
        .build();
  }

  static Event.WorkerCordoned decode(WorkerCordoned proto) {
    return new Event.WorkerCordoned(
        proto.getWorkerId(), proto.getDrainedIncarnation(), proto.getActor());
  }

  private static AttemptEnded encode(Event.AttemptEnded ended) {
    AttemptRef a = ended.attempt();
    AttemptEnded.Builder proto =
        AttemptEnded.newBuilder()
            .setRun(a.run())
            .setTask(a.task())
            .setAttempt(a.attempt())
            .setOutcome(encode(ended.outcome()))
            .setReason(ended.reason())
            .setDurationMs(ended.durationMs());
    switch (ended.output()) {
      case Output.None() -> {}
      case Output.Inline(String json) -> proto.setOutput(json);
      case Output.Stored(int size) -> proto.setStoredOutputSize(size);
    }
    if (!ended.isFinal()) {
      proto.setRetryAfterMs(unsigned(ended.retryAfterMs()));
    }
    return proto.build();
  }

  private static Event.AttemptEnded decode(AttemptEnded proto) {
    return new Event.AttemptEnded(
        new AttemptRef(proto.getRun(), proto.getTask(), proto.getAttempt()),
        decode(proto.getOutcome()),
        output(proto.getOutput(), proto.getStoredOutputSize()),
        proto.getReason(),
        proto.getDurationMs(),
        proto.hasRetryAfterMs()
            ? Integer.toUnsignedLong(proto.getRetryAfterMs())
            : Event.AttemptEnded.FINAL);
  }

  static Output output(String inline, int storedSize) {
    if (storedSize > 0) {
      return new Output.Stored(storedSize);
    }
    return inline.isEmpty() ? Output.NONE : new Output.Inline(inline);
  }

  static AttemptEnded.Outcome encode(Outcome outcome) {
    return switch (outcome) {
      case SUCCESS -> AttemptEnded.Outcome.SUCCESS;
      case FAILED -> AttemptEnded.Outcome.FAILED;
      case TIMEOUT -> AttemptEnded.Outcome.TIMEOUT;
      case CANCELLED -> AttemptEnded.Outcome.CANCELLED;
      case LOST -> AttemptEnded.Outcome.LOST;
      case RETURNED -> AttemptEnded.Outcome.RETURNED;
    };
  }

  static Outcome decode(AttemptEnded.Outcome outcome) {
    return switch (outcome) {
      case SUCCESS -> Outcome.SUCCESS;
      case FAILED -> Outcome.FAILED;
      case TIMEOUT -> Outcome.TIMEOUT;
      case CANCELLED -> Outcome.CANCELLED;
      case LOST -> Outcome.LOST;
      case RETURNED -> Outcome.RETURNED;
      case OUTCOME_UNSPECIFIED, UNRECOGNIZED ->
          throw new UnknownEventException(
              "The journal holds an outcome that this version does not know: upgrade this node.");
    };
  }

  private static RunCreated encode(Event.RunCreated created) {
    RunCreated.Builder proto =
        RunCreated.newBuilder()
            .setNumber(created.number())
            .setRunId(encode(created.id()))
            .setSpec(created.spec())
            .putAllLabels(created.labels())
            .setActor(created.actor())
            .setKey(created.key())
            .setBodyHash(created.bodyHash());
    if (!created.tenant().equals(DEFAULT_TENANT)) {
      proto.setTenant(created.tenant());
    }
    switch (created.params()) {
      case RunParams.Inline(String json) -> proto.setParams(json);
      case RunParams.Stored(long nonce, int size) ->
          proto.setParamsNonce(nonce).setStoredParamsSize(size);
    }
    return proto.build();
  }

  private static Event.RunCreated decode(RunCreated proto) {
    return new Event.RunCreated(
        proto.getNumber(),
        runId(proto.getRunId()),
        proto.getSpec(),
        proto.getTenant().isEmpty() ? DEFAULT_TENANT : proto.getTenant(),
        proto.getLabelsMap(),
        proto.getActor(),
        proto.getKey(),
        proto.getBodyHash(),
        params(proto.getParams(), proto.getParamsNonce(), proto.getStoredParamsSize()));
  }

  static RunParams params(String inline, long nonce, int storedSize) {
    return storedSize > 0 ? new RunParams.Stored(nonce, storedSize) : new RunParams.Inline(inline);
  }

  static ByteString encode(RunId id) {
    return ByteString.copyFrom(ByteBuffer.allocate(16).putLong(id.high()).putLong(id.low()).flip());
  }

  static RunId runId(ByteString bytes) {
    ByteBuffer buffer = bytes.asReadOnlyByteBuffer();
    return new RunId(buffer.getLong(), buffer.getLong());
  }
}
