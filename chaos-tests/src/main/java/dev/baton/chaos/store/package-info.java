/**
 * The watch on etcd: who leads, and who writes, as etcd itself saw it.
 *
 * <p>Must not: decide anything, or write to etcd.
 */
@NullMarked
package dev.baton.chaos.store;

import org.jspecify.annotations.NullMarked;
