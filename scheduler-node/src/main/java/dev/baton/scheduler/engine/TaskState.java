package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.TaskStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A task of a live run. Changed by {@link ClusterState#apply} only. */
public final class TaskState {
  private TaskStatus status = TaskStatus.PENDING;
  private int waitsFor;
  private long retryAt;
  private List<Attempt> attempts = List.of();
  private Output output = Output.NONE;

  TaskState() {}

  public TaskStatus status() {
    return status;
  }

  /** How many of the tasks it depends on have not succeeded. */
  public int waitsFor() {
    return waitsFor;
  }

  /** Journal time at which a retry is due, ms; 0: none waits. */
  public long retryAt() {
    return retryAt;
  }

  /** Oldest first. Numbers grow, with gaps where old returns were forgotten. */
  public List<Attempt> attempts() {
    return Collections.unmodifiableList(attempts);
  }

  public Output output() {
    return output;
  }

  public @Nullable Attempt lastAttempt() {
    return attempts.isEmpty() ? null : attempts.getLast();
  }

  /** The highest attempt number so far; 0: none. */
  public int lastNumber() {
    return attempts.isEmpty() ? 0 : attempts.getLast().number();
  }

  /** Attempts that ended with one of these outcomes. */
  public int count(Outcome... outcomes) {
    int count = 0;
    for (Attempt attempt : attempts) {
      for (Outcome outcome : outcomes) {
        if (attempt.outcome() == outcome) {
          count++;
        }
      }
    }
    return count;
  }

  void waitFor(int tasks) {
    waitsFor = tasks;
  }

  /** True once nothing is left to wait for. */
  boolean dependencySucceeded() {
    waitsFor--;
    return waitsFor == 0;
  }

  void become(TaskStatus next) {
    if (status.isTerminal()) {
      throw new IllegalStateException("Expected a task that has not ended, but it is " + status);
    }
    status = next;
    retryAt = 0;
  }

  void ready(long retryAt) {
    become(TaskStatus.READY);
    this.retryAt = retryAt;
  }

  void start(Attempt attempt) {
    become(TaskStatus.RUNNING);
    if (attempts.isEmpty()) {
      attempts = new ArrayList<>(1);
    }
    attempts.add(attempt);
  }

  void replaceLast(Attempt attempt) {
    attempts.set(attempts.size() - 1, attempt);
  }

  /** The oldest returned attempt if more of them are kept than there should be. */
  @Nullable Attempt dropOldReturn() {
    if (count(Outcome.RETURNED) <= Limits.RETURNS_KEPT) {
      return null;
    }
    int oldest = 0;
    while (attempts.get(oldest).outcome() != Outcome.RETURNED) {
      oldest++;
    }
    return attempts.remove(oldest);
  }

  void give(Output output) {
    this.output = output;
  }

  TaskImage image() {
    return new TaskImage(status, List.copyOf(attempts), retryAt, output);
  }

  void restore(TaskImage image) {
    status = image.status();
    retryAt = image.retryAt();
    attempts = image.attempts().isEmpty() ? List.of() : new ArrayList<>(image.attempts());
    output = image.output();
  }
}
