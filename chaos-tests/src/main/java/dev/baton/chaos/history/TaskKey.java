package dev.baton.chaos.history;

/** A task of a run. */
public record TaskKey(String run, String task) {
  @Override
  public String toString() {
    return run + "/" + task;
  }
}
