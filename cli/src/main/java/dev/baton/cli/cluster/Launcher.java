package dev.baton.cli.cluster;

import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Starts processes that outlive this one: each in a session of its own, so that neither Ctrl-C nor
 * the end of the terminal reaches it, with its output in a log.
 */
final class Launcher {
  private static final String SCHEDULER = "dev.baton.scheduler.SchedulerNode";
  private static final String WORKER = "dev.baton.worker.WorkerNode";

  private final ClusterFolder folder;
  private final Path workingDirectory;
  private final Map<String, String> environment;

  Launcher(ClusterFolder folder, Path workingDirectory, Map<String, String> environment) {
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
    String kind = role == Role.SCHEDULER ? "scheduler" : "worker";
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    Path options =
        Path.of(environment.getOrDefault("BATON_HOME", ""))
            .resolve("deploy/jvm/" + kind + ".options");
    if (Files.exists(options)) {
      command.add("@" + options.toAbsolutePath());
    }
    String heap = environment.getOrDefault("BATON_HEAP", "");
    if (!heap.isEmpty()) {
      command.add("-Xmx" + heap);
    }
    Arrays.stream(environment.getOrDefault("BATON_JAVA_OPTS", "").split(" ", -1))
        .filter(option -> !option.isBlank())
        .forEach(command::add);
    command.add(role == Role.SCHEDULER ? SCHEDULER : WORKER);
    command.addAll(List.of("--config", settings.toString()));
    return start(name, role, command, more, folder.logs().resolve(name + ".log"));
  }

  Daemon start(String name, Role role, List<String> command, Map<String, String> more, Path log) {
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
      own.put("CLASSPATH", classPath());
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

  private static String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
