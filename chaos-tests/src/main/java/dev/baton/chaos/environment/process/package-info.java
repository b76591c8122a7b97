/**
 * Plain processes of this machine, without privileges: the local cluster of {@code baton up}.
 *
 * <p>Faults of the network are made by TCP proxies on other loopback addresses, under which nodes
 * are told to advertise themselves; a full disk by a small tmpfs, as root only. Reading order:
 * {@link dev.baton.chaos.environment.process.ProcessEnvironment}, {@code ProxyNetwork}, {@code
 * FaultProxy}.
 */
@NullMarked
package dev.baton.chaos.environment.process;

import org.jspecify.annotations.NullMarked;
