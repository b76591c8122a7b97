/**
 * The local cluster: etcd members, schedulers and workers as processes of this machine that outlive
 * the program that started them.
 *
 * <p>All it knows of them stands in a folder, {@code .baton/<cluster>}: data, settings, logs, and
 * {@code cluster.json} with each process's id and start time. A process is signalled only if both
 * still agree, so an id that was given to somebody else is never hit.
 *
 * <p>Must not: print; run the nodes in this process; know what a run is.
 */
@NullMarked
package dev.baton.cli.cluster;

import org.jspecify.annotations.NullMarked;
