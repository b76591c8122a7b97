package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The thread under a strand, and the pauses between tries. */
class ThreadStrandTest {
  @Test
  void shouldRunTasksInOrderOnItsThread() {
    try (ThreadStrand strand = new ThreadStrand("s")) {
      List<Integer> ran = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        int number = i;
        strand.execute(() -> ran.add(number));
      }
      CompletableFuture<String> thread = new CompletableFuture<>();
      strand.execute(() -> thread.complete(Thread.currentThread().getName()));
      assertEquals("s", thread.orTimeout(5, TimeUnit.SECONDS).join());
      assertEquals(1000, ran.size());
      assertEquals(999, ran.getLast());
    }
  }

  @Test
  void shouldNotRunATimerThatWasCancelledOnTheStrand() {
    try (ThreadStrand strand = new ThreadStrand("s")) {
      CompletableFuture<Boolean> ran = new CompletableFuture<>();
      strand.execute(() -> {
        Strand.Timer timer = strand.schedule(Duration.ZERO, () -> ran.complete(true));
        timer.cancel();
        timer.cancel();
        strand.schedule(Duration.ofMillis(20), () -> ran.complete(false));
      });
      assertFalse(ran.orTimeout(5, TimeUnit.SECONDS).join());
    }
  }

  @Test
  void shouldGoOnAfterATaskThatThrows() {
    AtomicReference<Throwable> fault = new AtomicReference<>();
    try (ThreadStrand strand = new ThreadStrand("s", true, fault::set)) {
      CompletableFuture<Void> after = new CompletableFuture<>();
      strand.execute(() -> {
        throw new IllegalStateException("on purpose");
      });
      strand.execute(() -> after.complete(null));
      after.orTimeout(5, TimeUnit.SECONDS).join();
      assertEquals("on purpose", fault.get().getMessage());
    }
  }

  @Test
  void shouldPassWhatAHandlerOfAnAnswerThrowsToTheStrand() {
    CompletableFuture<Throwable> fault = new CompletableFuture<>();
    try (ThreadStrand strand = new ThreadStrand("s", true, fault::complete)) {
      Answer.of(
          CompletableFuture.completedFuture(1),
          strand,
          answer -> {
            throw new IllegalStateException("on purpose");
          },
          failure -> {});
      assertEquals("on purpose", fault.orTimeout(5, TimeUnit.SECONDS).join().getMessage());
    }
  }

  @Test
  void shouldEndWithinItsBound() {
    ThreadStrand strand = new ThreadStrand("s");
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    strand.execute(() -> {
      running.countDown();
      try {
        release.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    assertTrue(await(running));
    assertFalse(strand.close(Duration.ofMillis(50)));
    strand.execute(() -> {});
    release.countDown();
    assertTrue(strand.close(Duration.ofSeconds(5)));
  }

  @Test
  void shouldDoublePausesUpToTheLongestAndJitterThem() {
    Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofMillis(450), new Random(7));
    for (long whole : new long[] {100, 200, 400, 450, 450}) {
      long millis = backoff.next().toMillis();
      assertTrue(millis >= whole / 2 - 1 && millis <= whole, millis + " of " + whole);
    }
    backoff.reset();
    assertTrue(backoff.next().toMillis() <= 100);
    assertThrows(
        IllegalArgumentException.class,
        () -> new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(1), new Random(7)));
  }

  private static boolean await(CountDownLatch latch) {
    try {
      return latch.await(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
