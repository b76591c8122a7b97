package dev.baton.chaos.environment;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs a program of this machine to its end, within ten seconds. An interrupt does not keep it from
 * ending: it is what cleans up.
 */
public final class Tool {
  private static final long BOUND_SECONDS = 10;

  private Tool() {}

  /**
   * How it ended.
   *
   * @param code of its exit; -1: it did not start, or was killed because it took too long
   * @param output what it printed, errors as well
   */
  public record Result(int code, String output) {
    public boolean succeeded() {
      return code == 0;
    }
  }

  /**
   * Runs it.
   *
   * @param input its standard input; at most 64 KiB, the size of a pipe
   */
  public static Result run(List<String> command, String input) {
    Path printed = null;
    try {
      printed = Files.createTempFile("baton-tool", ".out");
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(printed.toFile())
              .start();
      try (OutputStream in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        // It did not read all of it: its exit code tells whether that was wrong.
      }
      int code = await(process) ? process.exitValue() : -1;
      return new Result(code, Files.readString(printed).strip());
    } catch (IOException e) {
      return new Result(-1, String.valueOf(e.getMessage()));
    } finally {
      delete(printed);
    }
  }

  /** Runs it, and tells what it said if it fails. */
  public static String require(List<String> command, String input) {
    Result result = run(command, input);
    if (!result.succeeded()) {
      throw new IllegalStateException(
          "Expected '"
              + String.join(" ", command)
              + "' to succeed, but it ended with "
              + result.code()
              + ": "
              + result.output());
    }
    return result.output();
  }

  /** A program on the PATH, or where programs of root are. */
  public static Optional<Path> find(Map<String, String> environment, String program) {
    String path = environment.getOrDefault("PATH", "");
    return Stream.concat(
            Stream.of(path.split(File.pathSeparator, -1)),
            Stream.of("/usr/sbin", "/sbin", "/usr/bin", "/bin"))
        .filter(folder -> folder.startsWith("/"))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  public static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private static boolean await(Process process) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            return true;
          }
          process.destroyForcibly();
          return false;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void delete(@Nullable Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // The system empties its folder for such files.
    }
  }
}
