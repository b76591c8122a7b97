package dev.baton.cli.cluster;

import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Waits until a process that was started is ready, but not longer than it lives. */
public final class Readiness {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(50);
  private static final int LOG_LINES = 15;

  private Readiness() {}

  /**
   * Returns once the process is ready.
   *
   * @throws ExitException if it ends, or is not ready within a minute; with the end of its log
   */
  public static void await(String name, Path log, BooleanSupplier dead, BooleanSupplier ready) {
    Optional<Boolean> answer =
        Polling.until(
            BOUND,
            POLL,
            () -> {
              if (dead.getAsBoolean()) {
                return Optional.of(false);
              }
              return ready.getAsBoolean() ? Optional.of(true) : Optional.empty();
            });
    if (!answer.orElse(false)) {
      String what =
          answer.isPresent()
              ? " ended while it started"
              : " was not ready within " + BOUND.toSeconds() + " s";
      throw new ExitException(
          ExitCode.FAILED,
          name + what + "; the end of its log " + log + ":\n" + lastLines(log, LOG_LINES));
    }
  }

  static String lastLines(Path log, int count) {
    try {
      List<String> lines =
          new String(Files.readAllBytes(log), StandardCharsets.UTF_8).lines().toList();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - count), lines.size()));
    } catch (IOException e) {
      return "(its log cannot be read: " + e.getMessage() + ")";
    }
  }
}
