/**
 * The gRPC streams to the scheduler nodes, one to each: opened, opened again with a back-off,
 * closed.
 *
 * <p>Must not: know what the messages mean.
 */
@NullMarked
package dev.baton.worker.stream;

import org.jspecify.annotations.NullMarked;
