package dev.baton.cli.bench;

import java.util.ArrayList;
import java.util.List;

/** Threads that never rest, as a neighbour that takes whole processors. */
final class BusyLoops implements AutoCloseable {
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;

  BusyLoops(int count) {
    for (int i = 0; i < count; i++) {
      threads.add(Thread.ofPlatform().name("busy-" + i).daemon().start(this::spin));
    }
  }

  int count() {
    return threads.size();
  }

  private void spin() {
    while (!closed) {
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
