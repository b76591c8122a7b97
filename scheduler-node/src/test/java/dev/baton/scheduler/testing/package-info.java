/**
 * What the tests of several packages stand on: a real etcd, the network to it, workflows.
 *
 * <p>Must not: stand in for etcd or gRPC.
 */
@NullMarked
package dev.baton.scheduler.testing;

import org.jspecify.annotations.NullMarked;
