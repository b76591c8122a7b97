package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptRef;

/** A live run and one of its tasks. */
public record Place(Run run, int task) {
  public TaskState state() {
    return run.task(task);
  }

  public AttemptRef attempt(int number) {
    return new AttemptRef(run.number(), task, number);
  }
}
