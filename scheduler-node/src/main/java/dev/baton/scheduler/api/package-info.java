/**
 * The wire to users: judges what comes in, hands writes to the leader wherever it is, and renders
 * the durable state.
 *
 * <p>Reading order: {@link dev.baton.scheduler.api.BatonApi} (the calls), {@code Submissions} (from
 * a request to what the loop takes), {@code LeaderCalls} (here, or at the leader), {@code RunViews}
 * (from state and history to answers), {@code Refusals} (the one table of refusals).
 *
 * <p>Beside that the calls by which workers without a way to etcd are registered: {@code
 * WorkerRegistrar}.
 *
 * <p>Must not: decide anything, or change the state it reads.
 */
@NullMarked
package dev.baton.scheduler.api;

import org.jspecify.annotations.NullMarked;
