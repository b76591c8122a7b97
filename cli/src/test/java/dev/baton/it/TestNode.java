package dev.baton.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.baton.cli.cluster.ProcStat;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A scheduler or worker as a process: the same id, ports and settings at every start. */
final class TestNode implements AutoCloseable {
  /** For things that take a second on a quiet machine. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Duration ASK = Duration.ofSeconds(2);
  private static final int LOG_LINES = 25;

  private final String id;
  private final int grpcPort;
  private final int httpPort;
  private final List<String> command;
  private final Path log;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(ASK).build();
  private @Nullable Process process;

  /**
   * @param grpcPort 0 for a worker
   */
  TestNode(String id, int grpcPort, int httpPort, List<String> command, Path log) {
    this.id = id;
    this.grpcPort = grpcPort;
    this.httpPort = httpPort;
    this.command = List.copyOf(command);
    this.log = log;
  }

  String id() {
    return id;
  }

  /** Where its API is. */
  String apiAddress() {
    return "127.0.0.1:" + grpcPort;
  }

  String httpAddress() {
    return "127.0.0.1:" + httpPort;
  }

  /** Starts it, and does not wait. */
  synchronized void start() {
    if (isAlive()) {
      throw new IllegalStateException("Expected " + id + " to be down, but it runs.");
    }
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().keySet().removeIf(name -> name.startsWith("BATON_"));
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException(id + " could not be started", e);
    }
  }

  synchronized boolean isAlive() {
    return process != null && process.isAlive();
  }

  long pid() {
    return running().pid();
  }

  /** SIGKILL; returns once it is gone. */
  void kill() {
    Process running = running();
    running.destroyForcibly();
    awaitExit();
  }

  /** SIGTERM; does not wait. */
  void terminate() {
    running().destroy();
  }

  /** SIGSTOP. */
  void pause() {
    signal("STOP");
  }

  /** SIGCONT. */
  void resume() {
    signal("CONT");
  }

  /** Waits until it has ended; returns its exit code. */
  int awaitExit() {
    Process watched = started();
    try {
      if (watched.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        return watched.exitValue();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new IllegalStateException("Expected " + id + " to end, but it runs.\n" + lastLogLines());
  }

  /** Waits until it says that it is ready, but not longer than it lives. */
  void awaitReady() {
    Awaitility.await(id + " is ready")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> {
          if (!isAlive()) {
            throw new IllegalStateException(
                "Expected " + id + " to start, but it ended.\n" + lastLogLines());
          }
          return status().path("ok").asBoolean();
        });
  }

  /** What it says at {@code /readyz}; a missing node if it does not answer. */
  JsonNode status() {
    String body = get("/readyz");
    try {
      return body.isEmpty() ? MissingNode.getInstance() : JSON.readTree(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The value of a metric, the sum over tags that the name leaves open; 0 if it has none. */
  double metric(String name) {
    return get("/metrics")
        .lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /**
   * CPU time that its threads have used, without its children's, and without the JVM's compiler,
   * which on a slow machine goes on with the start of the process for a minute.
   */
  Duration cpu() {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
      long ticks =
          threads
              .filter(thread -> !isCompiler(thread))
              .flatMap(thread -> ProcStat.read(thread).stream())
              .mapToLong(ProcStat::cpuTicks)
              .sum();
      return Duration.ofMillis(1000 * ticks / ProcStat.TICKS_PER_SECOND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isCompiler(Path thread) {
    try {
      return Files.readString(thread.resolve("comm")).matches("C[12] Compiler.*\\s*");
    } catch (IOException e) {
      return false; // it has ended, and is not read either
    }
  }

  Path log() {
    return log;
  }

  String logText() {
    try {
      return Files.exists(log) ? Files.readString(log) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String lastLogLines() {
    List<String> lines = logText().lines().toList();
    return "--- "
        + log.toAbsolutePath()
        + "\n"
        + String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
  }

  /** SIGKILL without a word, whatever state it is in. */
  @Override
  public synchronized void close() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  @Override
  public String toString() {
    return id;
  }

  private String get(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + httpAddress() + path)).timeout(ASK).build();
    try {
      return http.send(request, BodyHandlers.ofString()).body();
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private void signal(String signal) {
    Signals.send(signal, running().pid());
  }

  private synchronized Process started() {
    if (process == null) {
      throw new IllegalStateException("Expected " + id + " to have been started.");
    }
    return process;
  }

  private Process running() {
    Process started = started();
    if (!started.isAlive()) {
      throw new IllegalStateException("Expected " + id + " to run.\n" + lastLogLines());
    }
    return started;
  }
}
