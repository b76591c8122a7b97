package dev.baton.scheduler.journal;

import dev.baton.proto.journal.v1.AttemptRecord;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.proto.journal.v1.TaskRecord;
import dev.baton.scheduler.engine.Attempt;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.engine.RunImage;
import dev.baton.scheduler.engine.TaskImage;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.workflow.TaskSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;

/** Whole runs as they are stored: live ones in snapshots, ended ones in the history. */
public final class RunCodec {
  private RunCodec() {}

  /** For a snapshot: names its definition and workers by number. */
  static RunRecord encode(RunImage image) {
    RunRecord.Builder proto = head(image).setSpec(image.created().spec());
    for (TaskImage task : image.tasks()) {
      TaskRecord.Builder record = encode(task);
      for (Attempt attempt : task.attempts()) {
        record.addAttempts(encode(attempt).setWorker(attempt.worker()));
      }
      proto.addTasks(record);
    }
    return proto.build();
  }

  /**
   * For the history: names everything in words, since definition and workers may be gone when it is
   * read.
   *
   * @param workerIds the id behind a worker's number
   */
  public static RunRecord encodeForHistory(Run run, IntFunction<String> workerIds) {
    RunImage image = run.image();
    RunRecord.Builder proto =
        head(image).setWorkflow(run.workflow().name()).setWorkflowVersion(run.workflow().version());
    for (int i = 0; i < run.size(); i++) {
      TaskSpec spec = run.workflow().task(i);
      TaskImage task = image.tasks().get(i);
      TaskRecord.Builder record =
          encode(task)
              .setTaskId(spec.id())
              .setType(spec.type())
              .addAllDependsOn(spec.dependsOn())
              .setPriority(spec.priority());
      for (Attempt attempt : task.attempts()) {
        record.addAttempts(encode(attempt).setWorkerId(workerIds.apply(attempt.worker())));
      }
      proto.addTasks(record);
    }
    return proto.build();
  }

  /** What stands in the history of a record that goes in parts: all but its tasks. */
  public static RunRecord withoutTasks(RunRecord record) {
    Map<Integer, Integer> counts = new TreeMap<>();
    record.getTasksList().forEach(task -> counts.merge(task.getState(), 1, Integer::sum));
    return record.toBuilder().clearTasks().putAllTaskCounts(counts).build();
  }

  private static RunRecord.Builder head(RunImage image) {
    Event.RunCreated created = image.created();
    RunRecord.Builder proto =
        RunRecord.newBuilder()
            .setNumber(created.number())
            .setRunId(EventCodec.encode(created.id()))
            .setTenant(created.tenant())
            .putAllLabels(created.labels())
            .setActor(created.actor())
            .setKey(created.key())
            .setBodyHash(created.bodyHash())
            .setCreatedAt(image.createdAt())
            .setEndedAt(image.endedAt())
            .setState(encode(image.status()))
            .setReason(image.reason());
    if (image.stopping() != null) {
      proto.setStopping(encode(image.stopping()));
    }
    switch (created.params()) {
      case RunParams.Inline(String json) -> proto.setParams(json);
      case RunParams.Stored(long nonce, int size) ->
          proto.setParamsNonce(nonce).setStoredParamsSize(size);
    }
    return proto;
  }

  private static TaskRecord.Builder encode(TaskImage task) {
    TaskRecord.Builder proto =
        TaskRecord.newBuilder().setState(encode(task.status())).setRetryAt(task.retryAt());
    switch (task.output()) {
      case Output.None() -> {}
      case Output.Inline(String json) -> proto.setOutput(json);
      case Output.Stored(int size) -> proto.setStoredOutputSize(size);
    }
    return proto;
  }

  private static AttemptRecord.Builder encode(Attempt attempt) {
    AttemptRecord.Builder proto =
        AttemptRecord.newBuilder()
            .setNumber(attempt.number())
            .setStartedAt(attempt.startedAt())
            .setEndedAt(attempt.endedAt())
            .setReason(attempt.reason())
            .setDurationMs(attempt.durationMs());
    if (attempt.outcome() != null) {
      proto.setOutcome(EventCodec.encode(attempt.outcome()));
    }
    return proto;
  }

  static RunImage decode(RunRecord proto) {
    List<TaskImage> tasks = new ArrayList<>(proto.getTasksCount());
    for (TaskRecord task : proto.getTasksList()) {
      tasks.add(decode(task));
    }
    Event.RunCreated created =
        new Event.RunCreated(
            proto.getNumber(),
            EventCodec.runId(proto.getRunId()),
            proto.getSpec(),
            proto.getTenant(),
            proto.getLabelsMap(),
            proto.getActor(),
            proto.getKey(),
            proto.getBodyHash(),
            EventCodec.params(
                proto.getParams(), proto.getParamsNonce(), proto.getStoredParamsSize()));
    return new RunImage(
        created,
        proto.getCreatedAt(),
        proto.getEndedAt(),
        runStatus(proto.getState()),
        proto.getStopping() == 0 ? null : runStatus(proto.getStopping()),
        proto.getReason(),
        tasks);
  }

  private static TaskImage decode(TaskRecord proto) {
    List<Attempt> attempts = new ArrayList<>(proto.getAttemptsCount());
    for (AttemptRecord attempt : proto.getAttemptsList()) {
      attempts.add(
          new Attempt(
              attempt.getNumber(),
              attempt.getWorker(),
              attempt.getStartedAt(),
              attempt.getEndedAt(),
              attempt.getOutcomeValue() == 0 ? null : EventCodec.decode(attempt.getOutcome()),
              attempt.getReason(),
              attempt.getDurationMs()));
    }
    return new TaskImage(
        taskStatus(proto.getState()),
        attempts,
        proto.getRetryAt(),
        EventCodec.output(proto.getOutput(), proto.getStoredOutputSize()));
  }

  private static int encode(RunStatus status) {
    return switch (status) {
      case RUNNING -> 1;
      case SUCCESS -> 2;
      case FAILED -> 3;
      case TIMEOUT -> 4;
      case CANCELLED -> 5;
    };
  }

  /** The status behind a stored number, the same as in the users' API. */
  static RunStatus runStatus(int number) {
    return switch (number) {
      case 1 -> RunStatus.RUNNING;
      case 2 -> RunStatus.SUCCESS;
      case 3 -> RunStatus.FAILED;
      case 4 -> RunStatus.TIMEOUT;
      case 5 -> RunStatus.CANCELLED;
      default -> throw new UnknownEventException("Run state " + number + " is not known here.");
    };
  }

  private static int encode(TaskStatus status) {
    return switch (status) {
      case PENDING -> 1;
      case READY -> 2;
      case RUNNING -> 3;
      case SUCCESS -> 4;
      case FAILED -> 5;
      case TIMEOUT -> 6;
      case CANCELLED -> 7;
      case SKIPPED -> 8;
    };
  }

  /** The status behind a stored number, the same as in the users' API. */
  static TaskStatus taskStatus(int number) {
    return switch (number) {
      case 1 -> TaskStatus.PENDING;
      case 2 -> TaskStatus.READY;
      case 3 -> TaskStatus.RUNNING;
      case 4 -> TaskStatus.SUCCESS;
      case 5 -> TaskStatus.FAILED;
      case 6 -> TaskStatus.TIMEOUT;
      case 7 -> TaskStatus.CANCELLED;
      case 8 -> TaskStatus.SKIPPED;
      default -> throw new UnknownEventException("Task state " + number + " is not known here.");
    };
  }
}
