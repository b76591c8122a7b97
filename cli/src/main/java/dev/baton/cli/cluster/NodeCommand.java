package dev.baton.cli.cluster;

import dev.baton.cli.cluster.Daemon.Role;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** How a node is started: with the JVM and the classes of this program, named by full paths. */
public final class NodeCommand {
  private static final String SCHEDULER = "dev.baton.scheduler.SchedulerNode";
  private static final String WORKER = "dev.baton.worker.WorkerNode";

  private NodeCommand() {}

  /**
   * Program and arguments; the class path is the variable {@code CLASSPATH}.
   *
   * @param environment of this program, whose {@code BATON_HOME}, {@code BATON_HEAP} and {@code
   *     BATON_JAVA_OPTS} count
   */
  public static List<String> of(Role role, Path settings, Map<String, String> environment) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    options(role, environment).ifPresent(options -> command.add("@" + options));
    String heap = environment.getOrDefault("BATON_HEAP", "");
    if (!heap.isEmpty()) {
      command.add("-Xmx" + heap);
    }
    Arrays.stream(environment.getOrDefault("BATON_JAVA_OPTS", "").split(" ", -1))
        .filter(option -> !option.isBlank())
        .forEach(command::add);
    command.add(role == Role.SCHEDULER ? SCHEDULER : WORKER);
    command.addAll(List.of("--config", settings.toString()));
    return command;
  }

  /** The file with options of the JVM of a kind of node, where there is one. */
  public static Optional<Path> options(Role role, Map<String, String> environment) {
    String kind = role == Role.SCHEDULER ? "scheduler" : "worker";
    Path options =
        Path.of(environment.getOrDefault("BATON_HOME", ""))
            .resolve("deploy/jvm/" + kind + ".options")
            .toAbsolutePath();
    return Files.exists(options) ? Optional.of(options) : Optional.empty();
  }

  /** The class path of this program, with full paths. */
  public static String classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
