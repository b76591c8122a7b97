package dev.baton.chaos.environment.process;

import dev.baton.chaos.environment.Impairment;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What is done to bytes between any two members now. Of all threads. */
final class Rules {
  private static final long RETRANSMISSION_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<Way, Impairment> rules = new HashMap<>();

  /** From one member to another. */
  record Way(String from, String to) {}

  void set(Way way, Impairment impairment) {
    lock.lock();
    try {
      rules.put(way, impairment);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void clear() {
    lock.lock();
    try {
      rules.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How long bytes that are sent now are under way. A lost packet shows in TCP as a delay. */
  Duration travel(Way way) {
    lock.lock();
    try {
      Impairment rule = rules.get(way);
      if (rule == null) {
        return Duration.ZERO;
      }
      boolean lost = ThreadLocalRandom.current().nextDouble() < rule.loss();
      return lost ? rule.delay().plusNanos(RETRANSMISSION_NANOS) : rule.delay();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until a moment, and while the way is cut. */
  void awaitPassage(Way way, long dueNanos) throws InterruptedException {
    lock.lock();
    try {
      while (true) {
        Impairment rule = rules.get(way);
        long left = dueNanos - System.nanoTime();
        if (rule != null && rule.cut()) {
          // Lifted by the suite, which always ends its faults; closing interrupts.
          changed.await();
        } else if (left > 0) {
          var unused = changed.awaitNanos(left);
        } else {
          return;
        }
      }
    } finally {
      lock.unlock();
    }
  }
}
