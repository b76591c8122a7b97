package dev.baton.cli.cluster;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits for what no event tells: another process's state. */
public final class Polling {
  private Polling() {}

  /** Asks until there is an answer; empty when the bound has passed. */
  public static <T> Optional<T> until(
      Duration bound, Duration pause, Supplier<Optional<T>> question) {
    long endNanos = System.nanoTime() + bound.toNanos();
    while (true) {
      Optional<T> answer = question.get();
      if (answer.isPresent() || System.nanoTime() - endNanos >= 0) {
        return answer;
      }
      LockSupport.parkNanos(pause.toNanos());
      if (Thread.currentThread().isInterrupted()) {
        return Optional.empty();
      }
    }
  }
}
