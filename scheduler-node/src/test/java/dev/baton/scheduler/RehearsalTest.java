package dev.baton.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.Rehearsal.UnderWay;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RehearsalTest {
  private static UnderWay endless(Duration ago) {
    return new UnderWay(new FutureTask<>(() -> true), System.nanoTime() - ago.toNanos());
  }

  @Test
  void shouldPlayAWholeTerm() throws InterruptedException, ExecutionException {
    assertTrue(Rehearsal.begin().await(() -> true), "every task has ended");
  }

  @Test
  void shouldCutItShortWhereTheNodeIsWaitedFor() throws InterruptedException, ExecutionException {
    UnderWay rehearsal = endless(Duration.ofSeconds(5));
    assertFalse(rehearsal.await(() -> false));
    assertTrue(rehearsal.task().isCancelled());
  }

  @Test
  void shouldGoOnUntilTheNodeIsWaitedFor() throws InterruptedException, ExecutionException {
    UnderWay rehearsal = endless(Duration.ofSeconds(5));
    AtomicInteger asked = new AtomicInteger();
    assertFalse(rehearsal.await(() -> asked.incrementAndGet() < 3));
    assertEquals(3, asked.get());
    assertTrue(rehearsal.task().isCancelled());
  }
}
