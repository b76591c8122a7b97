package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.WorkerLife;

/** There are no workers. */
final class SilentSink implements WorkerSink {
  @Override
  public void openTerm(long term) {}

  @Override
  public void closeTerm() {}

  @Override
  public void greet(WorkerLife to) {}

  @Override
  public void askInventory(WorkerLife to) {}

  @Override
  public void assign(WorkerLife to, Assignment assignment) {}

  @Override
  public void cancel(WorkerLife to, AttemptName name, String reason) {}

  @Override
  public void acknowledge(WorkerLife to, AttemptName name, Verdict verdict) {}

  @Override
  public void drain(WorkerLife to) {}

  @Override
  public void flush() {}
}
