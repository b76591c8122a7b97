/**
 * The rules: what a command leads to, and what an event does to the state.
 *
 * <p>{@link dev.baton.scheduler.engine.Engine#decide} reads the durable state and the presence of
 * workers and gives back events and effects; {@link dev.baton.scheduler.engine.ClusterState#apply}
 * is the only thing that changes the state, on every node alike. The rules for a noun stand with
 * it: {@code RunRules}, {@code AttemptRules}, {@code WorkerRules}.
 *
 * <p>Must not: do I/O, log, start a thread, look at a clock, or draw a random number.
 * Single-threaded.
 */
@NullMarked
package dev.baton.scheduler.engine;

import org.jspecify.annotations.NullMarked;
