/**
 * The one seam to etcd and everything that is decided there: leases, the election, the fenced
 * append of journal entries, watches, and the registries of nodes and workers.
 *
 * <p>{@link dev.baton.coordination.Etcd} is the seam: asynchronous, with a deadline on every call.
 * Nothing else in the project may import jetcd. What stands above it takes its time and its thread
 * from a {@link dev.baton.coordination.Strand}, so that a simulation can run it without threads.
 *
 * <p>Must not: know workflows, tasks or runs; decide what an entry holds.
 */
@NullMarked
package dev.baton.coordination;

import org.jspecify.annotations.NullMarked;
