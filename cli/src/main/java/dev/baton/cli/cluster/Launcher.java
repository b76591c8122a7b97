package dev.baton.cli.cluster;

import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts processes that outlive this one: each in a session of its own, so that neither Ctrl-C nor
 * the end of the terminal reaches it, with its output in a log.
 */
public final class Launcher {
  private final ClusterFolder folder;
  private final Path workingDirectory;
  private final Map<String, String> environment;

  public Launcher(ClusterFolder folder, Path workingDirectory, Map<String, String> environment) {
    this.folder = folder;
    this.workingDirectory = workingDirectory;
    this.environment = environment;
  }

  Daemon startEtcd(String name, List<String> command, Path log) {
    return start(name, Role.ETCD, command, Map.of(), log);
  }

  /**
   * Starts a scheduler or a worker with the classes of this program.
   *
   * @param more variables on top of the environment
   */
  Daemon startNode(String name, Role role, Path settings, Map<String, String> more) {
    List<String> command = NodeCommand.of(role, settings, environment);
    return start(name, role, command, more, folder.logs().resolve(name + ".log"));
  }

  /**
   * Starts a process that may become any program.
   *
   * @param role tells whether it gets the classes of this program
   * @param more variables on top of the environment
   */
  public Daemon start(
      String name, Role role, List<String> command, Map<String, String> more, Path log) {
    List<String> detached = new ArrayList<>(List.of("setsid"));
    detached.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(detached)
            .directory(workingDirectory.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    Map<String, String> own = builder.environment();
    // Their settings stand in files: what the user exported for the CLI is not meant for them.
    own.keySet().removeIf(key -> key.startsWith("BATON_") || key.startsWith("ETCD_"));
    if (role != Role.ETCD) {
      own.put("CLASSPATH", NodeCommand.classPath());
    }
    own.putAll(more);
    try {
      Process process = builder.start();
      return Daemon.of(name, role, process.pid(), folder.path().relativize(log).toString())
          .orElseThrow(
              () -> new ExitException(ExitCode.FAILED, name + " ended at once; its log is " + log));
    } catch (IOException e) {
      throw new ExitException(
          ExitCode.NOT_INSTALLED,
          name
              + " could not be started ("
              + e.getMessage()
              + "): setsid (util-linux) and "
              + command.getFirst()
              + " are needed",
          e);
    }
  }
}
