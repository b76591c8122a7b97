package dev.baton.scheduler.model;

/** An attempt as workers call it: by the ids that people know. */
public record AttemptName(String runId, String taskId, int attempt) {
  @Override
  public String toString() {
    return runId + "/" + taskId + "/" + attempt;
  }
}
