/**
 * What the tests of several packages stand on: workflows, workers and whole nodes.
 *
 * <p>Must not: stand in for etcd or gRPC.
 */
@NullMarked
package dev.baton.scheduler.testing;

import org.jspecify.annotations.NullMarked;
