package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.Outcome;
import java.time.Duration;

/** Hears what the loop does, for metrics. Called on the loop's thread; must be quick. */
public interface LoopListener {
  /** Hears nothing. */
  LoopListener NONE = new LoopListener() {};

  default void onRole(Role role, long term) {}

  /** An entry became durable, so long after it was sent. */
  default void onEntry(int events, int bytes, Duration append) {}

  default void onStalled(boolean stalled) {}

  /** Something failed that should not: a bug. */
  default void onFault(String what) {}

  /** A command was not decided, since too much waits; it comes again. */
  default void onDropped(String command) {}

  default void onAttemptEnded(String type, Outcome outcome, int durationMs) {}

  default void onRefused(String code) {}

  default void onAdopted() {}

  default void onInventory() {}

  default void onSnapshot(long bytes) {}

  /** State was loaded from etcd. */
  default void onLoaded(int keysRead, Duration took) {}

  /** This node has taken the place of a leader that was dead by this evidence. */
  default void onDeposed(String evidence) {}

  /** A leader that was deposed answers again, and would still have had its lease. */
  default void onWrongGuess() {}

  /** From the win of the election to the first effects of the term. */
  default void onTakeOver(int keysRead, Duration took) {}
}
