/**
 * The one thread: it takes what comes from workers, users and etcd, has the engine decide, applies,
 * appends, and lets effects go once they may. Standby or leader, it is the same loop.
 *
 * <p>Reading order: {@link dev.baton.scheduler.loop.SchedulerLoop} (the roles and how they change),
 * {@code Leading} (a term), {@code Pipeline} (decide, apply, append, release), then what a term
 * does besides: {@code Assigns}, {@code Backstops}, {@code Retirement}, {@code Snapshots}, {@code
 * Sweeper}.
 *
 * <p>Must not: know gRPC, HTTP or Redis; block; touch its state from another thread.
 */
@NullMarked
package dev.baton.scheduler.loop;

import org.jspecify.annotations.NullMarked;
