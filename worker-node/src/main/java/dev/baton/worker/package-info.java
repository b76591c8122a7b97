/**
 * A worker: runs attempts of tasks for the schedulers of a cluster.
 *
 * <p>Users implement {@link dev.baton.worker.TaskHandler} and start a {@link
 * dev.baton.worker.Worker} in their own process, or run {@link dev.baton.worker.WorkerNode} with
 * the built-in handlers. This package owns that API and wires the rest, in start order.
 *
 * <p>Must not: decide anything about tasks (schedulers do); let a handler's thread carry the lease
 * or a stream.
 */
@NullMarked
package dev.baton.worker;

import org.jspecify.annotations.NullMarked;
