package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.workflow.Workflow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A live run. Changed by {@link ClusterState#apply} only; once it has ended it never changes again,
 * so another thread may read it then.
 */
public final class Run {
  private final Event.RunCreated created;
  private final Spec spec;
  private final long createdAt;
  private final TaskState[] tasks;
  private final Map<TaskStatus, Integer> counts = new EnumMap<>(TaskStatus.class);
  private RunStatus status = RunStatus.RUNNING;
  private @Nullable RunStatus stopping;
  private String reason = "";
  private long endedAt;

  Run(Event.RunCreated created, Spec spec, long createdAt) {
    this.created = created;
    this.spec = spec;
    this.createdAt = createdAt;
    this.tasks = new TaskState[spec.workflow().tasks().size()];
    for (int i = 0; i < tasks.length; i++) {
      tasks[i] = new TaskState();
      tasks[i].waitFor(spec.workflow().task(i).dependsOn().size());
    }
    counts.put(TaskStatus.PENDING, tasks.length);
  }

  public long number() {
    return created.number();
  }

  public RunId id() {
    return created.id();
  }

  /** What it was created with. */
  public Event.RunCreated created() {
    return created;
  }

  public Spec spec() {
    return spec;
  }

  public Workflow workflow() {
    return spec.workflow();
  }

  public long createdAt() {
    return createdAt;
  }

  /** Journal time, ms; 0 while it runs. */
  public long endedAt() {
    return endedAt;
  }

  public RunStatus status() {
    return status;
  }

  /** Where it is going while running attempts are told to stop; null: nowhere. */
  public @Nullable RunStatus stopping() {
    return stopping;
  }

  public boolean isStopping() {
    return stopping != null;
  }

  /** Why it ended as it did, or is ending. */
  public String reason() {
    return reason;
  }

  public int size() {
    return tasks.length;
  }

  public TaskState task(int index) {
    return tasks[index];
  }

  /** How many of its tasks stand there. */
  public int count(TaskStatus status) {
    return counts.getOrDefault(status, 0);
  }

  /** Tasks that have not ended. */
  public int unfinished() {
    return count(TaskStatus.PENDING) + count(TaskStatus.READY) + count(TaskStatus.RUNNING);
  }

  public AttemptName nameOf(int task, int attempt) {
    return new AttemptName(id().toString(), workflow().task(task).id(), attempt);
  }

  /** Everything about it, for a snapshot or the history. */
  public RunImage image() {
    List<TaskImage> images = new ArrayList<>(tasks.length);
    for (TaskState task : tasks) {
      images.add(task.image());
    }
    return new RunImage(created, createdAt, endedAt, status, stopping, reason, images);
  }

  /** Counts a task's change of status; the change itself is made by {@code change}. */
  void move(int index, Runnable change) {
    counts.merge(tasks[index].status(), -1, Integer::sum);
    change.run();
    counts.merge(tasks[index].status(), 1, Integer::sum);
  }

  void stop(RunStatus towards, String why) {
    if (stopping == null) {
      stopping = towards;
      reason = why;
    }
  }

  void because(String why) {
    if (reason.isEmpty()) {
      reason = why;
    }
  }

  void end(long at) {
    RunStatus towards = stopping;
    int succeeded = count(TaskStatus.SUCCESS);
    status =
        towards != null
            ? towards
            : succeeded == tasks.length ? RunStatus.SUCCESS : RunStatus.FAILED;
    endedAt = at;
  }

  void restore(RunImage image) {
    status = image.status();
    stopping = image.stopping();
    reason = image.reason();
    endedAt = image.endedAt();
    counts.clear();
    for (int i = 0; i < tasks.length; i++) {
      tasks[i].restore(image.tasks().get(i));
      counts.merge(tasks[i].status(), 1, Integer::sum);
    }
    for (int i = 0; i < tasks.length; i++) {
      int waits = 0;
      for (int before : workflow().task(i).dependsOn()) {
        if (tasks[before].status() != TaskStatus.SUCCESS) {
          waits++;
        }
      }
      tasks[i].waitFor(waits);
    }
  }
}
