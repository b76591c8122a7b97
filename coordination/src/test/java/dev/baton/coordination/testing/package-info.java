/**
 * What the tests of several modules stand on: a real etcd, and the network to it.
 *
 * <p>Must not: stand in for etcd; {@link dev.baton.coordination.simulation} does.
 */
@NullMarked
package dev.baton.coordination.testing;

import org.jspecify.annotations.NullMarked;
