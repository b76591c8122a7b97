package dev.baton.cli.bench;

import dev.baton.cli.bench.BenchResult.Heap;
import dev.baton.cli.bench.BenchResult.Memory;
import dev.baton.cli.cluster.Daemon;
import dev.baton.coordination.Etcd;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the load leaves behind: the size in use of etcd, sampled, and the leader's heap after a full
 * collection, early and at the end. A full collection stops the leader for its time, so figures of
 * speed of the same run suffer a little.
 */
final class Footprint {
  private static final Duration CALL = Duration.ofSeconds(2);
  private static final Duration EVERY = Duration.ofSeconds(2);
  private static final long EARLY_TASKS = 50_000;
  private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");
  private static final NodeMetric RETAINED = new NodeMetric("baton_runs_retained");

  private final Etcd etcd;
  private final JournalTap tap;
  private final Supplier<@Nullable Leader> leader;
  private final ScheduledExecutorService executor;
  private final List<Heap> heaps = new ArrayList<>();
  private volatile long etcdInUse;

  /** The process to look at, and where its metrics are. */
  record Leader(Daemon process, int httpPort) {}

  Footprint(
      Etcd etcd,
      JournalTap tap,
      Supplier<@Nullable Leader> leader,
      ScheduledExecutorService executor) {
    this.etcd = etcd;
    this.tap = tap;
    this.leader = leader;
    this.executor = executor;
  }

  void start() {
    var unused =
        executor.scheduleWithFixedDelay(this::sample, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void sample() {
    var unused =
        etcd.status(CALL)
            .whenCompleteAsync(
                (status, failure) -> {
                  if (failure == null) {
                    etcdInUse = Math.max(etcdInUse, status.sizeInUseBytes());
                  }
                },
                executor);
    if (heapsTaken() == 0 && tap.counts().tasksEnded() >= EARLY_TASKS) {
      takeHeap();
    }
  }

  private synchronized int heapsTaken() {
    return heaps.size();
  }

  /** What was found; takes the last heap now. */
  Memory end() {
    takeHeap();
    synchronized (this) {
      return new Memory(etcdInUse, List.copyOf(heaps));
    }
  }

  private void takeHeap() {
    Leader now = leader.get();
    if (now == null) {
      return;
    }
    long tasks = tap.counts().tasksEnded();
    long bytes = liveBytes(now.process().pid());
    long runs = (long) RETAINED.read(now.httpPort()).orElse(0);
    synchronized (this) {
      heaps.add(new Heap(tasks, bytes, runs));
    }
  }

  /** The histogram counts live objects, and collects before. */
  private static long liveBytes(long pid) {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    try {
      Process process =
          new ProcessBuilder(jcmd, Long.toString(pid), "GC.class_histogram")
              .redirectErrorStream(true)
              .start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher total = TOTAL.matcher(text);
      return total.find() ? Long.parseLong(total.group(1)) : 0;
    } catch (IOException e) {
      throw new IllegalStateException(
          "--footprint needs a JDK with jcmd, but " + jcmd + " does not run", e);
    }
  }
}
