package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.RunStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run as it goes into a snapshot or the history.
 *
 * @param created what it was created with
 * @param stopping where it is going while running attempts are told to stop; null: nowhere
 */
public record RunImage(
    Event.RunCreated created,
    long createdAt,
    long endedAt,
    RunStatus status,
    @Nullable RunStatus stopping,
    String reason,
    List<TaskImage> tasks) {
  public RunImage {
    tasks = List.copyOf(tasks);
  }
}
