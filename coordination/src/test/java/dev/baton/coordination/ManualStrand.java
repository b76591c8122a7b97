package dev.baton.coordination;

import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A strand that the test's thread drives, with a clock that the test moves. */
final class ManualStrand implements Strand {
  private record Scheduled(long due, long order, Runnable task) {}

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Scheduled> timers =
      new PriorityQueue<>(
          (a, b) -> a.due != b.due ? Long.compare(a.due, b.due) : Long.compare(a.order, b.order));
  private long now;
  private long count;

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  @Override
  public long nanoTime() {
    return now;
  }

  @Override
  public long wallMillis() {
    return 0;
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    Scheduled scheduled = new Scheduled(now + delay.toNanos(), count++, task);
    timers.add(scheduled);
    return () -> timers.remove(scheduled);
  }

  /** Moves the clock and runs what is due, and what comes of it at once. */
  void advance(Duration time) {
    drain();
    long end = now + time.toNanos();
    for (Scheduled next = timers.peek(); next != null && next.due <= end; next = timers.peek()) {
      timers.remove(next);
      now = Math.max(now, next.due);
      next.task.run();
      drain();
    }
    now = end;
    drain();
  }

  /** The clock moves, but nothing runs meanwhile, as when the process is stopped. */
  void standStill(Duration time) {
    now += time.toNanos();
  }

  private void drain() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }
}
