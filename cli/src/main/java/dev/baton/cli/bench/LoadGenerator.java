package dev.baton.cli.bench;

import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.SubmitRunRequest;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * Keeps a number of runs in flight: each that has ended, by the journal's word, makes room for the
 * next.
 */
final class LoadGenerator {
  private static final Duration STALLED = Duration.ofMinutes(2);

  private final BatonClient client;
  private final SubmitRunRequest request;
  private final int concurrency;
  private final Executor executor;
  private final Semaphore room;
  private final Map<String, Long> inFlight = new ConcurrentHashMap<>();
  private final Set<String> measured = ConcurrentHashMap.newKeySet();
  private final Histogram latencies = Percentiles.histogram();
  private final AtomicInteger ended = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private volatile long pauseNanos;
  private long nextNanos;

  LoadGenerator(BatonClient client, String definition, int concurrency, Executor executor) {
    this.client = client;
    this.request = SubmitRunRequest.newBuilder().setDefinition(definition).build();
    this.concurrency = concurrency;
    this.executor = executor;
    this.room = new Semaphore(concurrency);
  }

  /**
   * Submits until told to stop, then waits until all runs have ended.
   *
   * @param warmUp the first so many runs are not measured
   * @param onWarm called once they have been submitted
   */
  void run(int warmUp, Runnable onWarm, BooleanSupplier isDone) throws InterruptedException {
    for (int submitted = 0; !isDone.getAsBoolean(); submitted++) {
      if (submitted == warmUp) {
        onWarm.run();
      }
      take(1);
      awaitTurn();
      submit(submitted >= warmUp);
    }
    take(concurrency);
    room.release(concurrency);
  }

  /** From now on at most so many a second, evenly. */
  void pace(double runsPerSecond) {
    pauseNanos = (long) (1e9 / runsPerSecond);
  }

  private void awaitTurn() {
    // What was missed while nobody led is not made up for.
    nextNanos = Math.max(nextNanos + pauseNanos, System.nanoTime());
    for (long left = pauseNanos; left > 0; left = nextNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /** By the journal; runs of others are ignored. */
  void onRunEnded(String runId) {
    Long since = inFlight.remove(runId);
    if (since != null) {
      if (measured.contains(runId)) {
        Percentiles.record(latencies, System.nanoTime() - since);
      }
      ended.incrementAndGet();
      room.release();
    }
  }

  boolean isMeasured(String runId) {
    return measured.contains(runId);
  }

  /** From the submission to the last task's end in the journal. */
  Histogram latencies() {
    return latencies;
  }

  int ended() {
    return ended.get();
  }

  int refused() {
    return refused.get();
  }

  private void submit(boolean isMeasured) {
    String runId = client.drawRunId();
    if (isMeasured) {
      measured.add(runId);
    }
    inFlight.put(runId, System.nanoTime());
    var unused =
        client
            .submitAsync(request.toBuilder().setRunId(runId).build())
            .whenCompleteAsync(
                (response, failure) -> {
                  if (failure != null && inFlight.remove(runId) != null) {
                    refused.incrementAndGet();
                    room.release();
                  }
                },
                executor);
  }

  private void take(int permits) throws InterruptedException {
    int before;
    do {
      before = ended.get();
      if (room.tryAcquire(permits, STALLED.toSeconds(), TimeUnit.SECONDS)) {
        return;
      }
    } while (ended.get() > before);
    throw new ExitException(
        ExitCode.FAILED,
        inFlight.size() + " runs did not end: none has for " + STALLED.toSeconds() + " s");
  }
}
