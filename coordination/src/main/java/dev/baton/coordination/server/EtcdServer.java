package dev.baton.coordination.server;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One member of a cluster as a child process, on ports and a data directory that stay the same.
 *
 * <p>The process is not tied to this JVM: it goes on when the JVM ends without closing it.
 */
public final class EtcdServer {
  private static final Duration STOP_BOUND = Duration.ofSeconds(10);
  private static final int LOG_LINES = 15;
  private static final int HEALTH_MILLIS = 500;

  private final String name;
  private final int clientPort;
  private final List<String> command;
  private final Path log;
  private @Nullable Process process;

  EtcdServer(String name, int clientPort, List<String> command, Path log) {
    this.name = name;
    this.clientPort = clientPort;
    this.command = List.copyOf(command);
    this.log = log;
  }

  /** The {@code etcd} on the PATH. */
  public static Path find() {
    String path = System.getenv("PATH");
    return Stream.of((path == null ? "" : path).split(File.pathSeparator, -1))
        .map(folder -> Path.of(folder, "etcd"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() ->
            new IllegalStateException(
                "Expected the program 'etcd' on the PATH, but it is not there; on Debian and"
                    + " Ubuntu 'apt-get install etcd-server' installs it."));
  }

  public String name() {
    return name;
  }

  /** Program and arguments. */
  public List<String> command() {
    return command;
  }

  public String endpoint() {
    return "127.0.0.1:" + clientPort;
  }

  public Path log() {
    return log;
  }

  public synchronized boolean isRunning() {
    return process != null && process.isAlive();
  }

  /** The process id of the running member. */
  public synchronized long pid() {
    return running().pid();
  }

  /** Starts it on its data, and does not wait for it. */
  public synchronized void start() {
    if (isRunning()) {
      throw new IllegalStateException("Expected etcd " + name + " to be down, but it runs.");
    }
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException("etcd could not be started: " + e.getMessage(), e);
    }
  }

  /** Started, not ended by us, and gone. */
  synchronized boolean hasDied() {
    return process != null && !process.isAlive();
  }

  /** SIGKILL. */
  public synchronized void kill() {
    if (process != null) {
      process.destroyForcibly();
      await(process);
      process = null;
    }
  }

  /** SIGTERM, then SIGKILL if it takes longer than ten seconds. */
  public synchronized void stop() {
    if (process != null) {
      process.destroy();
      if (await(process)) {
        process = null;
      } else {
        kill();
      }
    }
  }

  /** SIGSTOP: it keeps its connections and answers nothing. */
  public void pause() {
    signal("STOP");
  }

  /** SIGCONT. */
  public void resume() {
    signal("CONT");
  }

  /** Its own word that it is in touch with a leader. */
  boolean isHealthy() {
    try {
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://" + endpoint() + "/health").toURL().openConnection();
      connection.setConnectTimeout(HEALTH_MILLIS);
      connection.setReadTimeout(HEALTH_MILLIS);
      try (var body = connection.getInputStream()) {
        return new String(body.readAllBytes(), StandardCharsets.UTF_8).contains("\"true\"");
      } finally {
        connection.disconnect();
      }
    } catch (IOException e) {
      return false;
    }
  }

  /** Waits, but not longer than the process lives. */
  void pollWithin(Duration time) {
    Process watched;
    synchronized (this) {
      watched = process;
    }
    try {
      if (watched != null) {
        var unused = watched.waitFor(time.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for etcd " + name + ".", e);
    }
  }

  String lastLogLines() {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
    } catch (IOException e) {
      return "(no log: " + e.getMessage() + ")";
    }
  }

  @Override
  public String toString() {
    return "etcd " + name + " at " + endpoint();
  }

  private void signal(String signal) {
    try {
      Process sent =
          new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).inheritIO().start();
      if (!await(sent) || sent.exitValue() != 0) {
        throw new IllegalStateException("SIG" + signal + " could not be sent to " + this + ".");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process running() {
    if (process == null || !process.isAlive()) {
      throw new IllegalStateException("Expected " + this + " to run, but it is down.");
    }
    return process;
  }

  private static boolean await(Process process) {
    try {
      return process.waitFor(STOP_BOUND.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
