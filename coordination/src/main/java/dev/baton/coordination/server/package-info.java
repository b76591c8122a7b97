/**
 * Real etcd members as child processes, for the local cluster, the benchmark and the tests.
 *
 * <p>Must not: be used by a node; nodes are told where etcd is.
 */
@NullMarked
package dev.baton.coordination.server;

import org.jspecify.annotations.NullMarked;
