package dev.baton.cli.bench;

import dev.baton.cli.bench.Bench.Options;
import dev.baton.cli.bench.BenchResult.Failover;
import dev.baton.cli.bench.BenchResult.Steady;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.ClusterRecord.Member;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.LeaderKill;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.cluster.LocalCluster.Size;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What is tried under half of the load that the cluster bears, on a thread of its own: rounds of a
 * fault to the leader, or nothing for a time. Each node that was hit is back and loaded before the
 * next round. Busy loops may take processors meanwhile.
 */
final class Trial {
  private static final Duration QUIET = Duration.ofSeconds(5);
  private static final Duration SETTLES = Duration.ofSeconds(5);

  /** The peak is that of the last part of the time with all the load. */
  private static final Duration UNTIL_PEAK = Duration.ofSeconds(15);

  private static final Duration PEAK = Duration.ofSeconds(10);
  private static final Duration STOPS_WITHIN = Duration.ofSeconds(20);
  private static final NodeMetric WRONG_GUESSES =
      new NodeMetric("baton_failover_wrong_guesses_total");

  private final Options options;
  private final ClusterFolder folder;
  private final LocalCluster cluster;
  private final Consumer<String> progress;
  private final JournalTap tap;
  private final LoadGenerator load;
  private final List<LeaderKill> kills = new ArrayList<>();
  private final List<List<Window>> quiet = new ArrayList<>();
  private final List<List<Window>> returns = new ArrayList<>();
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private @Nullable Thread thread;
  private volatile @Nullable RuntimeException failure;
  private volatile @Nullable Steady steady;
  private double peak;

  /** A time by the monotonic clock. */
  private record Window(long from, long to) {
    static Window since(long from) {
      return new Window(from, System.nanoTime());
    }
  }

  Trial(
      Options options,
      ClusterFolder folder,
      LocalCluster cluster,
      Consumer<String> progress,
      JournalTap tap,
      LoadGenerator load) {
    this.options = options;
    this.folder = folder;
    this.cluster = cluster;
    this.progress = progress;
    this.tap = tap;
    this.load = load;
    if (!options.hasTrial()) {
      done.complete(null);
    }
  }

  /** Begins; does nothing where nothing is to be tried. */
  void start() {
    if (options.hasTrial()) {
      thread = Thread.ofPlatform().name("trial").start(this::run);
    }
  }

  /** It is over, or failed. */
  boolean isDone() {
    return done.isDone();
  }

  /** Ends it; a round that is under way is cut short. */
  void stop() {
    Thread running = thread;
    if (running != null) {
      running.interrupt();
      boolean interrupted = Thread.interrupted();
      try {
        boolean ignored = running.join(STOPS_WITHIN);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Throws what it failed by. */
  void join() throws InterruptedException {
    if (thread != null) {
      thread.join();
      RuntimeException why = failure;
      if (why != null) {
        throw why;
      }
    }
  }

  /** Null where no faults were asked for. */
  @Nullable Failover failover(TraceReader traces) {
    if (options.fault() == null) {
      return null;
    }
    Histogram histogram = Percentiles.histogram();
    List<Double> rounds = new ArrayList<>();
    int missing = 0;
    for (LeaderKill kill : kills) {
      long received = traces.firstReceiptNanos(kill.term(), tap.firstSeq(kill.term()));
      if (received == 0) {
        missing++;
      } else {
        Percentiles.record(histogram, received - kill.signalNanos());
        rounds.add(Bench.rounded((received - kill.signalNanos()) / 1e6));
      }
    }
    Percentiles all = Percentiles.of(histogram);
    return new Failover(
        all.p50(),
        all.p99(),
        all.max(),
        rounds,
        missing,
        longestGaps(traces, quiet),
        longestGaps(traces, returns),
        Bench.rounded(peak),
        Bench.rounded(peak / 2));
  }

  /** One of each round. */
  private static Percentiles longestGaps(TraceReader traces, List<List<Window>> rounds) {
    Histogram histogram = Percentiles.histogram();
    for (List<Window> windows : rounds) {
      long longest = 0;
      for (Window window : windows) {
        longest = Math.max(longest, traces.longestGapNanos(window.from(), window.to()));
      }
      Percentiles.record(histogram, longest);
    }
    return Percentiles.of(histogram);
  }

  /** Null where the cluster was not left alone. */
  @Nullable Steady steady() {
    return steady;
  }

  private void run() {
    try {
      findPeak();
      try (BusyLoops loops = new BusyLoops(options.busyLoops())) {
        if (loops.count() > 0) {
          progress.accept("load: " + loops.count() + " busy loops beside it from now on");
        }
        Duration duration = options.duration();
        if (duration == null) {
          rounds(Objects.requireNonNull(options.fault()));
        } else {
          steady = leaveAlone(duration);
        }
      }
    } catch (RuntimeException e) {
      failure = e;
    } finally {
      done.complete(null);
    }
  }

  private void rounds(Signal fault) {
    for (int round = 1; round <= options.rounds(); round++) {
      Window before = quietWindow();
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
      LeaderKill kill = LeaderKill.run(folder, fault);
      kills.add(kill);
      progress.accept(
          "round %d of %d: SIG%s to %s, %s leads in term %d"
              .formatted(
                  round,
                  options.rounds(),
                  kill.signal(),
                  kill.killed(),
                  kill.leader(),
                  kill.term()));
      // A term's first seconds are not quiet: its leader's code is compiled, and it catches up.
      pause(SETTLES);
      quiet.add(List.of(before, quietWindow()));
      long start = System.nanoTime();
      cluster.up(new Size(null, null, null, options.allSlots(), true));
      returns.add(List.of(Window.since(start)));
    }
  }

  private Window quietWindow() {
    long start = System.nanoTime();
    pause(QUIET);
    return Window.since(start);
  }

  private Steady leaveAlone(Duration duration) {
    int terms = tap.terms();
    long guesses = wrongGuesses();
    int ended = load.ended();
    long began = System.nanoTime();
    pause(duration);
    double seconds = (System.nanoTime() - began) / 1e9;
    return new Steady(
        Bench.rounded(seconds),
        options.busyLoops(),
        tap.terms() - terms,
        wrongGuesses() - guesses,
        Bench.rounded((load.ended() - ended) / seconds),
        Bench.rounded(peak),
        Bench.rounded(peak / 2));
  }

  /** Leaders that were deposed and were not dead, as all schedulers count them. */
  private long wrongGuesses() {
    long sum = 0;
    for (Member member : folder.load().orElseThrow().schedulers()) {
      sum +=
          (long)
              WRONG_GUESSES
                  .read(member.httpPort())
                  .orElseThrow(() ->
                      new IllegalStateException(
                          "Expected " + member.id() + " to count its wrong guesses."));
    }
    return sum;
  }

  private void findPeak() {
    pause(UNTIL_PEAK);
    long began = System.nanoTime();
    int before = load.ended();
    pause(PEAK);
    peak = Math.max(1, (load.ended() - before) / ((System.nanoTime() - began) / 1e9));
    load.pace(peak / 2);
    progress.accept("load: half of %.0f runs/s from now on".formatted(peak));
  }

  /** A failure elsewhere ends the pause. */
  private void pause(Duration time) {
    try {
      done.get(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // Time for the next round.
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
