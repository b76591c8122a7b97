package dev.baton.cli.program;

import java.nio.file.Path;
import java.util.Map;

/**
 * What a command knows of the process that it runs in.
 *
 * @param directory where relative paths begin
 */
public record Context(Terminal terminal, Map<String, String> environment, Path directory) {
  public Context {
    environment = Map.copyOf(environment);
  }

  /** Of this process. */
  public static Context ofProcess() {
    Map<String, String> environment = System.getenv();
    return new Context(Terminal.ofProcess(environment), environment, Path.of("").toAbsolutePath());
  }

  public Path resolve(Path path) {
    return directory.resolve(path);
  }
}
