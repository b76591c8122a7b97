package dev.baton.chaos.environment;

import dev.baton.cli.cluster.Daemon.Role;

/** A member of the cluster: of etcd, a scheduler, a worker. */
public record Part(String name, Role role) {}
