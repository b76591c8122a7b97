package dev.baton.worker.builtin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.worker.FatalTaskException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SleepHandlerTest {
  private final SleepHandler handler = new SleepHandler();

  @Test
  void shouldSleepSoLong() throws Exception {
    long start = System.nanoTime();
    assertEquals(Map.of("sleptMs", 30L), handler.handle(FakeContext.with("ms", 30)));
    assertEquals(Map.of("sleptMs", 20L), handler.handle(FakeContext.with("duration", "0.02s")));
    assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(50));
  }

  @Test
  void shouldEndByAnInterrupt() throws Exception {
    CompletableFuture<Object> end = new CompletableFuture<>();
    Thread sleeper =
        Thread.ofVirtual()
            .start(() -> {
              try {
                end.complete(handler.handle(FakeContext.with("duration", "1h")));
              } catch (InterruptedException e) {
                end.completeExceptionally(e);
              }
            });
    sleeper.interrupt();
    ExecutionException thrown =
        assertThrows(ExecutionException.class, () -> end.get(5, TimeUnit.SECONDS));
    assertEquals(InterruptedException.class, Objects.requireNonNull(thrown.getCause()).getClass());
  }

  @Test
  void shouldRefuseWhatIsNoDuration() {
    for (FakeContext context :
        new FakeContext[] {
          FakeContext.with(),
          FakeContext.with("ms", 1, "duration", "1s"),
          FakeContext.with("ms", -1),
          FakeContext.with("ms", "1"),
          FakeContext.with("duration", "1 week")
        }) {
      assertThrows(FatalTaskException.class, () -> handler.handle(context));
    }
  }

  @Test
  void shouldOfferEverythingButShellByDefault() throws Exception {
    assertEquals(Set.of("echo", "sleep", "text_process"), BuiltIns.harmless().keySet());
    assertEquals(
        "{\"a\":1}",
        FakeContext.JSON
            .valueToTree(
                Objects.requireNonNull(BuiltIns.harmless().get("echo"))
                    .handle(FakeContext.with("a", 1)))
            .toString());
  }
}
