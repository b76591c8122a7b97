package dev.baton.worker.attempt;

import dev.baton.worker.protocol.AttemptId;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An append-only file that tells what was received, started and ended, for benchmarks and for
 * checkers outside Baton. A line each, fields separated by a blank:
 *
 * <pre>
 * A run task attempt seq term nanos millis     an assignment was received
 * S run task attempt nanos millis              its handler starts
 * E run task attempt nanos millis              its handler has ended
 * </pre>
 *
 * {@code nanos} is the monotonic clock, {@code millis} the wall clock. Lines are written in batches
 * by a thread of its own; a full queue slows its callers down rather than losing a line.
 */
public final class TraceFile implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(TraceFile.class);
  private static final int MAX_WAITING = 1 << 16;
  private static final String END = "";

  private final BlockingQueue<String> lines = new ArrayBlockingQueue<>(MAX_WAITING);
  private final OutputStream file;
  private final Thread writer;
  private volatile boolean broken;

  /** Opens the file, and makes it if it is not there. */
  public TraceFile(Path path) throws IOException {
    file = Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    writer = Thread.ofPlatform().daemon().name("baton-trace").start(this::write);
  }

  public void received(AttemptId id, long seq, long term) {
    add("A " + name(id) + " " + Long.toUnsignedString(seq) + " " + term);
  }

  void started(AttemptId id) {
    add("S " + name(id));
  }

  void ended(AttemptId id) {
    add("E " + name(id));
  }

  /** Writes what waits, and closes the file. */
  @Override
  public void close() throws IOException {
    if (!broken) {
      put(END);
    }
    try {
      writer.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    file.close();
  }

  private static String name(AttemptId id) {
    return id.runId() + " " + id.taskId() + " " + id.attempt();
  }

  private void add(String what) {
    if (broken) {
      return;
    }
    put(what + " " + System.nanoTime() + " " + System.currentTimeMillis() + "\n");
  }

  private void put(String line) {
    boolean interrupted = false;
    while (true) {
      try {
        lines.put(line);
        break;
      } catch (InterruptedException e) {
        // The handler's interrupt, not ours: hand it on.
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void write() {
    List<String> batch = new ArrayList<>();
    try {
      while (true) {
        batch.add(lines.take());
        lines.drainTo(batch);
        file.write(String.join("", batch).getBytes(StandardCharsets.UTF_8));
        if (batch.contains(END)) {
          return;
        }
        batch.clear();
      }
    } catch (IOException e) {
      broken = true;
      lines.clear();
      log.error("The trace file cannot be written any more", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
