package dev.baton.cli;

import java.nio.file.Path;
import java.util.Map;

/**
 * What a command knows of the process that it runs in.
 *
 * @param directory where relative paths begin
 */
record Context(Terminal terminal, Map<String, String> environment, Path directory) {
  Context {
    environment = Map.copyOf(environment);
  }

  static Context ofProcess() {
    Map<String, String> environment = System.getenv();
    return new Context(Terminal.ofProcess(environment), environment, Path.of("").toAbsolutePath());
  }

  Path resolve(Path path) {
    return directory.resolve(path);
  }
}
