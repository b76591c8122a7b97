package dev.baton.cli.conformance;

import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.WorkerMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** What the worker has said and done so far, and the way to wait for more. */
final class Book {
  private final List<Said> said = new ArrayList<>();
  private final List<RegisterRequest> registrations = new ArrayList<>();
  private final Map<String, Integer> heartbeats = new HashMap<>();
  private final Map<String, Integer> openings = new HashMap<>();
  private int deregisteredAt = -1;

  /**
   * A message of the worker.
   *
   * @param first of its stream
   */
  record Said(String node, boolean first, WorkerMessage message) {}

  synchronized void said(Said message) {
    said.add(message);
    if (message.first()) {
      openings.merge(message.node(), 1, Integer::sum);
    }
    notifyAll();
  }

  synchronized void registered(RegisterRequest request) {
    registrations.add(request);
    notifyAll();
  }

  synchronized void heartbeat(String node) {
    heartbeats.merge(node, 1, Integer::sum);
    notifyAll();
  }

  synchronized void deregistered() {
    deregisteredAt = registrations.size();
    notifyAll();
  }

  /** The worker's process has ended: whoever waits looks once more. */
  synchronized void ended() {
    notifyAll();
  }

  /** A place in what is said: {@link #after} looks from there on. */
  synchronized int mark() {
    return said.size();
  }

  synchronized List<RegisterRequest> registrations() {
    return List.copyOf(registrations);
  }

  synchronized int heartbeats(String node) {
    return heartbeats.getOrDefault(node, 0);
  }

  synchronized int openings(String node) {
    return openings.getOrDefault(node, 0);
  }

  synchronized List<Said> firsts() {
    return said.stream().filter(Said::first).toList();
  }

  /** Deregister was the last call about its registration. */
  synchronized boolean hasLeft() {
    return deregisteredAt == registrations.size();
  }

  /** The first message from a mark on that tells something. */
  synchronized <T> Optional<T> after(int mark, Function<Said, Optional<T>> tells) {
    return said.subList(mark, said.size()).stream()
        .flatMap(s -> tells.apply(s).stream())
        .findFirst();
  }

  /** Looks again whenever something has come; empty: it did not come in time. */
  synchronized <T> Optional<T> await(Duration bound, Supplier<Optional<T>> look)
      throws InterruptedException {
    long end = System.nanoTime() + bound.toNanos();
    while (true) {
      Optional<T> found = look.get();
      long left = end - System.nanoTime();
      if (found.isPresent() || left <= 0) {
        return found;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
  }
}
