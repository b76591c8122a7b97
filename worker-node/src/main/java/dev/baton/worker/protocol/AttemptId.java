package dev.baton.worker.protocol;

import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;

/** Names one attempt: a task id alone is unique only within its workflow. */
public record AttemptId(String runId, String taskId, int attempt) {
  public static AttemptId of(TaskAssignment assignment) {
    return new AttemptId(
        assignment.getWorkflowId(), assignment.getTaskId(), assignment.getAttempt());
  }

  public static AttemptId of(TaskResult result) {
    return new AttemptId(result.getRunId(), result.getTaskId(), result.getAttempt());
  }

  public static AttemptId of(AttemptName name) {
    return new AttemptId(name.getRunId(), name.getTaskId(), name.getAttempt());
  }

  public AttemptName toProto() {
    return AttemptName.newBuilder().setRunId(runId).setTaskId(taskId).setAttempt(attempt).build();
  }

  @Override
  public String toString() {
    return runId + "/" + taskId + "#" + attempt;
  }
}
