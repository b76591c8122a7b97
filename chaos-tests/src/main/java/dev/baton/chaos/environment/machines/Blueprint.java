package dev.baton.chaos.environment.machines;

import dev.baton.cli.cluster.Daemon.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What a machine is made for.
 *
 * @param name of the member
 * @param address IPv4, in the subnet of the run
 * @param command program and arguments
 * @param variables on top of its environment
 * @param log file to which all output is appended
 */
record Blueprint(
    String name,
    Role role,
    String address,
    List<String> command,
    Map<String, String> variables,
    Path log) {
  Blueprint {
    command = List.copyOf(command);
    variables = Map.copyOf(variables);
  }
}
