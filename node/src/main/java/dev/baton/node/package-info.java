/**
 * The process around a node: configuration, the HTTP port, logs, metrics, exit codes, and the order
 * in which a process starts and ends.
 *
 * <p>A leaf: {@link dev.baton.node.NodeProcess} is where a node's {@code main} begins.
 *
 * <p>Must not: know etcd's client, gRPC, workflows, or what either node does.
 */
@NullMarked
package dev.baton.node;

import org.jspecify.annotations.NullMarked;
