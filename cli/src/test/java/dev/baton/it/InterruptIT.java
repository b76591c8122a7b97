package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.ClusterRecord;
import dev.baton.cli.cluster.Daemon;
import dev.baton.cli.cluster.Daemon.Role;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command that is told to end leaves none of the processes behind that it has started. */
class InterruptIT {
  private static final int SIGTERM_CODE = 143;

  @TempDir private Path folder;

  @Test
  void benchEndsItsClusterInTheMiddleOfTheLoad() throws Exception {
    assertLeavesNothing("bench", "load:", "--runs", "10000000");
  }

  @Test
  void demoEndsItsClusterInTheMiddleOfTheStart() throws Exception {
    assertLeavesNothing("demo", "etcd: 3 members are healthy");
  }

  private void assertLeavesNothing(String command, String until, String... options)
      throws IOException, InterruptedException {
    Path log = folder.resolve("log");
    Process process = start(log, command, options);
    try {
      Awaitility.await(until)
          .atMost(TestNode.PATIENCE)
          .until(() -> !process.isAlive() || Files.readString(log).contains(until));
      ClusterFolder cluster = ClusterFolder.of(environment(), folder, command);
      Awaitility.await("a scheduler runs")
          .atMost(TestNode.PATIENCE)
          .until(() -> !process.isAlive() || running(cluster, Role.SCHEDULER) > 0);
      process.destroy();
      assertTrue(process.waitFor(90, TimeUnit.SECONDS), "it ends");
      assertEquals(SIGTERM_CODE, process.exitValue(), () -> text(log));
      for (Role role : Role.values()) {
        assertEquals(0, running(cluster, role), () -> role + " of\n" + text(log));
      }
      assertTrue(
          text(log).contains("interrupted: what was started is being ended"), () -> text(log));
    } finally {
      process.destroyForcibly();
    }
  }

  private Process start(Path log, String command, String... options) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "dev.baton.cli.Main",
                command)
            .directory(folder.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.command().addAll(List.of(options));
    builder.environment().keySet().removeIf(name -> name.startsWith("BATON_"));
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    builder.environment().putAll(environment());
    return builder.start();
  }

  private Map<String, String> environment() {
    return Map.of(
        "BATON_DIR",
        folder.toString(),
        "BATON_HOME",
        Path.of("..").toAbsolutePath().normalize().toString());
  }

  private static long running(ClusterFolder cluster, Role role) {
    return cluster.load().map(ClusterRecord::processes).orElse(List.of()).stream()
        .filter(daemon -> daemon.role() == role)
        .filter(daemon -> daemon.state() != Daemon.State.DEAD)
        .count();
  }

  private static String text(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
