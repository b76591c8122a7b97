package dev.baton.cli.bench;

import dev.baton.cli.bench.Shape.Dependencies;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;

/**
 * Reads the workers' trace files: a line for every assignment received ({@code A run task attempt
 * seq term nanos millis}), handler started ({@code S run task attempt nanos millis}) and handler
 * ended ({@code E …}). The monotonic clock is one for all processes of a machine.
 */
final class TraceReader {
  private final Shape shape;
  private final Predicate<String> measured;
  private final Map<String, Times> open = new HashMap<>();
  private final Histogram hops = Percentiles.histogram();
  private final Map<Long, Map<Long, Long>> firstReceipts = new HashMap<>();
  private long[] starts = new long[1 << 16];
  private int started;

  /** Starts and ends of a run's tasks; 0: not yet. */
  private static final class Times {
    private final long[] start;
    private final long[] end;

    Times(int tasks) {
      start = new long[tasks];
      end = new long[tasks];
    }
  }

  /**
   * @param measured which runs count; those of another shape must not
   */
  TraceReader(Shape shape, Predicate<String> measured) {
    this.shape = shape;
    this.measured = measured;
  }

  void read(List<Path> files) {
    for (Path file : files) {
      try (BufferedReader reader = Files.newBufferedReader(file)) {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          read(line);
        }
      } catch (IOException e) {
        throw new UncheckedIOException("The trace " + file + " cannot be read", e);
      }
    }
    open.values().forEach(this::close);
    open.clear();
    starts = Arrays.copyOf(starts, started);
    Arrays.sort(starts);
  }

  /** From the latest end of what a task depends on to the start of its handler. */
  Histogram hops() {
    return hops;
  }

  /** Handlers that were started. */
  long starts() {
    return started;
  }

  /** The longest time within these bounds in which no handler was started. */
  long longestGapNanos(long from, long to) {
    int at = Arrays.binarySearch(starts, from);
    long longest = 0;
    long before = from;
    for (int i = at < 0 ? -at - 1 : at; i < starts.length && starts[i] < to; i++) {
      longest = Math.max(longest, starts[i] - before);
      before = starts[i];
    }
    return Math.max(longest, to - before);
  }

  /**
   * When a worker first received an assignment that was decided in this term, by entry {@code
   * firstSeq} or later; 0: never. A repeat that an inventory caused is older than the term.
   */
  long firstReceiptNanos(long term, long firstSeq) {
    return firstReceipts.getOrDefault(term, Map.of()).entrySet().stream()
        .filter(receipt -> receipt.getKey() >= firstSeq)
        .mapToLong(Map.Entry::getValue)
        .min()
        .orElse(0);
  }

  private void read(String line) {
    String[] fields = line.split(" ", -1);
    switch (fields[0]) {
      case "A" -> {
        long seq = Long.parseUnsignedLong(fields[4]);
        long term = Long.parseLong(fields[5]);
        firstReceipts
            .computeIfAbsent(term, t -> new HashMap<>())
            .merge(seq, Long.parseLong(fields[6]), Math::min);
      }
      case "S" -> {
        noteStart(fields);
        note(fields, true);
      }
      case "E" -> note(fields, false);
      default -> {
        // A line that a killed worker did not finish, or a kind that came later.
      }
    }
  }

  private void noteStart(String[] fields) {
    if (started == starts.length) {
      starts = Arrays.copyOf(starts, 2 * started);
    }
    starts[started++] = fields.length > 4 ? Long.parseLong(fields[4]) : 0;
  }

  private void note(String[] fields, boolean isStart) {
    String run = fields[1];
    if (!measured.test(run) || fields.length < 6) {
      return;
    }
    Times times = open.computeIfAbsent(run, r -> new Times(shape.tasks()));
    int task = Shape.indexOf(fields[2]);
    long nanos = Long.parseLong(fields[4]);
    (isStart ? times.start : times.end)[task] = nanos;
    if (!isStart && task == shape.tasks() - 1) {
      close(times);
      open.remove(run);
    }
  }

  private void close(Times times) {
    for (int task = 0; task < shape.tasks(); task++) {
      Dependencies before = shape.dependencies(task);
      long ready = 0;
      for (int i = before.from(); i < before.to(); i++) {
        ready = times.end[i] == 0 ? 0 : Math.max(ready, times.end[i]);
      }
      if (ready != 0 && times.start[task] != 0) {
        Percentiles.record(hops, times.start[task] - ready);
      }
    }
  }
}
