package dev.baton.scheduler.dispatch;

import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.WorkerReport;
import dev.baton.scheduler.loop.WorkerSink.Assignment;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is said to and by workers, as it goes over the wire. */
final class WorkerMessages {
  private static final int PROGRESS_CHARS = 200;
  private static final int ERROR_CHARS = 4 << 10;

  private WorkerMessages() {}

  /** Null: it says nothing that the loop must hear. */
  static @Nullable WorkerReport report(WorkerMessage message) {
    if (!message.hasInventory()
        && message.getResultsCount() == 0
        && message.getReturnedCount() == 0
        && message.getCancelledUnknownCount() == 0
        && message.getProgressCount() == 0) {
      return null;
    }
    List<WorkerReport.Finished> results = new ArrayList<>(message.getResultsCount());
    for (TaskResult result : message.getResultsList()) {
      Outcome outcome = outcome(result.getStatus());
      if (outcome != null) {
        results.add(finished(result, outcome));
      }
    }
    return new WorkerReport(
        message.hasInventory() ? inventory(message) : null,
        results,
        names(message.getReturnedList()),
        names(message.getCancelledUnknownList()),
        message.getProgressList().stream()
            .map(p ->
                new WorkerReport.Progress(
                    name(p.getAttempt()),
                    fraction(p.getFraction()),
                    cut(p.getMessage(), PROGRESS_CHARS)))
            .toList());
  }

  private static double fraction(double said) {
    return Double.isNaN(said) ? 0 : Math.clamp(said, 0.0, 1.0);
  }

  private static WorkerReport.Inventory inventory(WorkerMessage message) {
    var inventory = message.getInventory();
    return new WorkerReport.Inventory(
        message.getTerm(),
        names(inventory.getRunningList()),
        names(inventory.getResultsList()),
        names(inventory.getReturnedList()),
        names(inventory.getLingeringList()));
  }

  private static WorkerReport.Finished finished(TaskResult result, Outcome outcome) {
    return new WorkerReport.Finished(
        new AttemptName(result.getRunId(), result.getTaskId(), result.getAttempt()),
        outcome,
        result.getOutputJson(),
        cut(result.getErrorMessage(), ERROR_CHARS),
        Math.clamp(result.getDurationMs(), 0, Integer.MAX_VALUE),
        result.getFinal());
  }

  /** Null: no result has such a status. */
  private static @Nullable Outcome outcome(TaskResult.Status status) {
    return switch (status) {
      case SUCCESS -> Outcome.SUCCESS;
      case FAILED -> Outcome.FAILED;
      case TIMEOUT -> Outcome.TIMEOUT;
      case CANCELLED -> Outcome.CANCELLED;
      case PENDING, RUNNING, UNRECOGNIZED -> null;
    };
  }

  private static List<AttemptName> names(List<dev.baton.proto.v1.AttemptName> names) {
    return names.stream().map(WorkerMessages::name).toList();
  }

  private static AttemptName name(dev.baton.proto.v1.AttemptName name) {
    return new AttemptName(name.getRunId(), name.getTaskId(), name.getAttempt());
  }

  static AttemptName name(TaskAssignment assignment) {
    return new AttemptName(
        assignment.getWorkflowId(), assignment.getTaskId(), assignment.getAttempt());
  }

  static dev.baton.proto.v1.AttemptName name(AttemptName name) {
    return dev.baton.proto.v1.AttemptName.newBuilder()
        .setRunId(name.runId())
        .setTaskId(name.taskId())
        .setAttempt(name.attempt())
        .build();
  }

  static TaskAssignment assignment(Assignment assignment) {
    AttemptName name = assignment.name();
    return TaskAssignment.newBuilder()
        .setTaskId(name.taskId())
        .setTaskType(assignment.type())
        .setWorkflowId(name.runId())
        .setPriority(assignment.priority())
        .putAllParams(assignment.params())
        .setTimeoutMs(assignment.timeoutMs())
        .setCreatedAt(assignment.createdAt())
        .setAttempt(name.attempt())
        .setIdempotencyKey(name.runId() + "/" + name.taskId())
        .setSeq(assignment.seq())
        .build();
  }

  static ResultAck.Verdict verdict(Verdict verdict) {
    return switch (verdict) {
      case ACCEPTED -> ResultAck.Verdict.ACCEPTED;
      case DUPLICATE -> ResultAck.Verdict.DUPLICATE;
      case STALE -> ResultAck.Verdict.STALE;
      case UNKNOWN -> ResultAck.Verdict.UNKNOWN;
    };
  }

  private static String cut(String text, int chars) {
    return text.length() <= chars ? text : text.substring(0, chars);
  }
}
