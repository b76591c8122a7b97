package dev.baton.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Signals that Java lacks, and what Linux tells of processes. */
final class Signals {
  private Signals() {}

  static void send(String signal, long pid) {
    try {
      Process kill =
          new ProcessBuilder("/bin/sh", "-c", "kill -s \"$0\" \"$1\"", signal, Long.toString(pid))
              .inheritIO()
              .start();
      if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new IllegalStateException("SIG" + signal + " could not be sent to " + pid + ".");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Living processes whose environment holds all of these variables; a child inherits its parent's.
   */
  static List<Long> with(Map<String, String> variables) {
    List<String> wanted =
        variables.entrySet().stream()
            .map(variable -> "\0" + variable.getKey() + "=" + variable.getValue() + "\0")
            .toList();
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      return all.filter(path -> path.getFileName().toString().matches("\\d+"))
          .filter(path -> {
            String environment = environment(path);
            return wanted.stream().allMatch(environment::contains);
          })
          .map(path -> Long.valueOf(path.getFileName().toString()))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Living processes that a shell task of this run started. */
  static List<Long> ofRun(String runId) {
    return with(Map.of("BATON_RUN", runId));
  }

  /** Living processes that this shell task started. */
  static List<Long> ofTask(String runId, String taskId) {
    return with(Map.of("BATON_RUN", runId, "BATON_TASK", taskId));
  }

  /** Empty for a process that is gone, a zombie, or somebody else's. */
  private static String environment(Path process) {
    try {
      return "\0"
          + new String(Files.readAllBytes(process.resolve("environ")), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }
}
