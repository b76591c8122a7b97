/**
 * A whole cluster in one seed: three scheduler nodes and some workers, as production wires them,
 * over a simulated etcd and a simulated network, while faults happen. No threads, no wall clock, no
 * sockets: the same seed gives the same history.
 *
 * <pre>
 * World  <-  Cluster (SimulatedNode, SimulatedWorker, Users, Network)
 *                ^
 *            Nemesis (faults, by the seed)
 *                |
 *            JournalObserver, Wires  ->  Invariant   what must hold, whatever happens
 *            Coverage                                what has happened at all
 * </pre>
 *
 * <p>A {@link dev.baton.scheduler.simulation.Simulation} is one seed: a calm start, a time of
 * faults, and a calm end in which everything must come to its end. The reference is the journal as
 * etcd commits it, entry by entry, which {@link dev.baton.scheduler.simulation.JournalObserver}
 * folds; what nodes, workers and users say of it is held against that.
 *
 * <p>Must not: change what is tried out (only seams that production has are used), look at a clock,
 * or draw chance from anything but the world.
 */
@NullMarked
package dev.baton.scheduler.simulation;

import org.jspecify.annotations.NullMarked;
