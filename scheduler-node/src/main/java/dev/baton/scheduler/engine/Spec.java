package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.SpecHash;
import dev.baton.workflow.Workflow;

/** A definition in use, under the number that stands for it in the journal. */
public final class Spec {
  private final long number;
  private final SpecHash hash;
  private final Workflow workflow;
  private int uses;
  private long lastUsed;

  Spec(long number, SpecHash hash, Workflow workflow, long lastUsed) {
    this.number = number;
    this.hash = hash;
    this.workflow = workflow;
    this.lastUsed = lastUsed;
  }

  public long number() {
    return number;
  }

  public SpecHash hash() {
    return hash;
  }

  public Workflow workflow() {
    return workflow;
  }

  /** Live runs of it. */
  public int uses() {
    return uses;
  }

  /** Journal time at which a run of it last began or left the state, ms. */
  public long lastUsed() {
    return lastUsed;
  }

  void use(long at) {
    uses++;
    lastUsed = at;
  }

  void release(long at) {
    uses--;
    lastUsed = at;
  }

  void restoreUse() {
    uses++;
  }
}
