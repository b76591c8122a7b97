package dev.baton.coordination;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * One thread at a time, with its clock and its timers: tasks run one after another, in the order in
 * which they came.
 *
 * <p>Whoever owns a strand keeps its state in plain fields and touches them on the strand only.
 * Production wraps a single thread ({@link ThreadStrand}); a simulation drives all strands from one
 * seed.
 */
public interface Strand extends Executor {
  /** Monotonic time in nanoseconds, from an arbitrary origin. */
  long nanoTime();

  /**
   * Wall clock, milliseconds since 1970-01-01 UTC. For labels only: nothing may become due by it.
   */
  long wallMillis();

  /** Runs {@code task} on this strand once {@code delay} has passed. */
  Timer schedule(Duration delay, Runnable task);

  /** A scheduled task that can be called off. */
  interface Timer {
    /**
     * Called on the strand, it guarantees that the task does not run any more. Harmless when
     * repeated.
     */
    void cancel();
  }
}
