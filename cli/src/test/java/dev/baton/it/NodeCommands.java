package dev.baton.it;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Command lines that start nodes from the jars that the build has packaged. */
final class NodeCommands {
  private static final Path TARGET = Path.of("target");
  private static final Path OPTIONS = Path.of("..", "deploy", "jvm");

  private NodeCommands() {}

  static List<String> scheduler(String id, List<String> etcd, int grpcPort, int httpPort) {
    List<String> command = java("scheduler", "dev.baton.scheduler.SchedulerNode");
    command.addAll(List.of("--set", "id=" + id));
    command.addAll(List.of("--set", "etcd.endpoints=" + String.join(",", etcd)));
    command.addAll(List.of("--set", "listen.grpcPort=" + grpcPort));
    command.addAll(List.of("--set", "listen.httpPort=" + httpPort));
    return command;
  }

  static List<String> worker(String id, List<String> etcd, int httpPort, Path trace) {
    List<String> command = java("worker", "dev.baton.worker.WorkerNode");
    command.addAll(List.of("--set", "id=" + id));
    command.addAll(List.of("--set", "etcd.endpoints=" + String.join(",", etcd)));
    command.addAll(List.of("--set", "listen.httpPort=" + httpPort));
    command.addAll(List.of("--set", "capabilities=*,shell"));
    command.addAll(List.of("--set", "trace.file=" + trace));
    return command;
  }

  /** The jars of the distribution. */
  static List<Path> jars() {
    try (Stream<Path> own = Files.list(TARGET);
        Stream<Path> others = Files.list(TARGET.resolve("lib"))) {
      return Stream.concat(own, others)
          .filter(file -> file.toString().endsWith(".jar"))
          .map(Path::toAbsolutePath)
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "Expected the packaged jars in " + TARGET.toAbsolutePath() + "/lib", e);
    }
  }

  /** The program {@code baton}. */
  static List<String> baton(String... arguments) {
    List<String> command = java("cli", "dev.baton.cli.Main");
    command.addAll(List.of(arguments));
    return command;
  }

  private static List<String> java(String kind, String main) {
    String classPath =
        jars().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + OPTIONS.resolve(kind + ".options"));
    command.addAll(List.of("-cp", classPath, main));
    return command;
  }
}
