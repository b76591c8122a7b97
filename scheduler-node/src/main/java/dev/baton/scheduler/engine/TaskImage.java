package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.TaskStatus;
import java.util.List;

/** A task as it goes into a snapshot or the history. */
public record TaskImage(TaskStatus status, List<Attempt> attempts, long retryAt, Output output) {
  public TaskImage {
    attempts = List.copyOf(attempts);
  }
}
