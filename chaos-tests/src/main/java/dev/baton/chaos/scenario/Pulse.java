package dev.baton.chaos.scenario;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Stalled;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Notices when the whole machine stands still, by a thread that wants to run twenty times a second.
 * Bounds of time say nothing about such a moment.
 */
final class Pulse implements AutoCloseable {
  private static final long BEAT_NANOS = 50_000_000;
  private static final long STALL_NANOS = 500_000_000;

  private final Consumer<Observation> journal;
  private final Thread thread =
      Thread.ofPlatform().name("chaos-pulse").daemon().unstarted(this::beat);

  Pulse(Consumer<Observation> journal) {
    this.journal = journal;
  }

  void start() {
    thread.start();
  }

  private void beat() {
    long before = System.nanoTime();
    while (!Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(BEAT_NANOS);
      long now = System.nanoTime();
      if (now - before > STALL_NANOS) {
        journal.accept(new Stalled(now, (now - before - BEAT_NANOS) / 1_000_000));
      }
      before = now;
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
