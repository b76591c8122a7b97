package dev.baton.chaos.environment.machines;

import dev.baton.cli.cluster.Daemon.Role;
import java.nio.file.Path;
import java.util.List;

/**
 * What a machine is made for.
 *
 * @param name of the member
 * @param address IPv4, in the subnet of the run
 * @param command program and arguments
 * @param log file to which all output is appended
 */
record Blueprint(String name, Role role, String address, List<String> command, Path log) {
  Blueprint {
    command = List.copyOf(command);
  }
}
