package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Run;

/** Follows one run. Called on the loop's thread. */
public interface RunWatcher {
  /** Renders the run as it is now; what is returned tells it, and runs once it is durable. */
  Runnable changed(Run run, ReadView view, long term, String leaderNodeId);

  /** Nobody listens any more. From any thread. */
  boolean isOver();

  /** This node cannot follow any more. */
  void gone();
}
