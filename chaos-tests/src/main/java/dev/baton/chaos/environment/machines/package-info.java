/**
 * Members on machines of their own, as far as the network can tell: each has an address, and what
 * arrives there can be dropped by who sent it.
 *
 * <p>Reading order: {@link dev.baton.chaos.environment.machines.MachinesEnvironment}, {@code
 * Machines} and {@code Machine}, {@code Firewall}, then the two kinds: {@link
 * dev.baton.chaos.environment.machines.NamespaceMachines} (Linux network namespaces) and {@link
 * dev.baton.chaos.environment.machines.ContainerMachines} (Docker, by Testcontainers).
 *
 * <p>Must not: change anything outside of what it made and named itself.
 */
@NullMarked
package dev.baton.chaos.environment.machines;

import org.jspecify.annotations.NullMarked;
