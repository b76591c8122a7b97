package dev.baton.chaos.environment;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a JVM of its own, as the schedulers are. */
class WallClocksTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long MINUTE = Duration.ofMinutes(1).toMillis();

  @TempDir private Path folder = Path.of("");
  private Process process;
  private PrintStream ask;
  private BufferedReader answers;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(WallClocks.obstacle(System.getenv()).isEmpty(), "absent: cc");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Clocks.class.getName());
    builder.environment().putAll(new WallClocks(folder).environment("s1"));
    process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    ask = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  @AfterEach
  void stop() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  @Test
  void shouldMoveTheWallClockOfOneProcessAndNoOtherTime() {
    assertTrue(Math.abs(ahead()) < MINUTE, "right at first");
    long monotonic = read()[1];
    long began = System.nanoTime();
    WallClocks clocks = new WallClocks(folder);
    clocks.set("s2", Duration.ofMinutes(60));
    for (int minutes : new int[] {10, -10, 0}) {
      clocks.set("s1", Duration.ofMinutes(minutes));
      Awaitility.await(minutes + " minutes ahead")
          .atMost(PATIENCE)
          .until(() -> Math.abs(ahead() - minutes * MINUTE) < MINUTE);
    }
    long passed = (System.nanoTime() - began) / 1_000_000;
    assertTrue(Math.abs(read()[1] - monotonic - passed) < MINUTE / 2, "monotonic time is true");
  }

  private long ahead() {
    return read()[0] - System.currentTimeMillis();
  }

  private long[] read() {
    ask.println();
    try {
      String[] clocks = answers.readLine().split(" ", -1);
      return new long[] {Long.parseLong(clocks[0]), Long.parseLong(clocks[1])};
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
