package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Limits;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BackstopsTest {
  private static final long TIMEOUT = 60_000;
  private static final long WHOLE = TIMEOUT + Limits.BACKSTOP.toMillis();
  private static final AttemptRef ATTEMPT = new AttemptRef(1, 0, 1);

  private long now;
  private final Backstops backstops = new Backstops(() -> now);

  @Test
  void shouldFireOnceAfterTheTimeoutAndTheGrace() {
    backstops.sent(ATTEMPT, TIMEOUT);
    assertNothingUntil(WHOLE - 1);
    now = WHOLE;
    assertEquals(Set.of(ATTEMPT), backstops.poll());
    assertEquals(Set.of(), backstops.poll());
  }

  @Test
  void shouldCountFromTheLastSending() {
    backstops.sent(ATTEMPT, TIMEOUT);
    now = 50_000;
    backstops.sent(ATTEMPT, TIMEOUT);
    assertNothingUntil(50_000 + WHOLE - 1);
    now = 50_000 + WHOLE;
    assertEquals(Set.of(ATTEMPT), backstops.poll());
  }

  /** Inventories come twice a minute: else a worker that does not keep time would never be late. */
  @Test
  void shouldNotBeginAgainWithEachInventory() {
    backstops.sent(ATTEMPT, TIMEOUT);
    for (now = 0; now < WHOLE; now += 30_000) {
      backstops.known(ATTEMPT, TIMEOUT);
      assertEquals(Set.of(), backstops.poll());
    }
    now = WHOLE;
    assertEquals(Set.of(ATTEMPT), backstops.poll());
  }

  @Test
  void shouldCountFromWhenItFirstKnewWhatAnotherLeaderHasSent() {
    now = 7_000;
    backstops.known(ATTEMPT, TIMEOUT);
    assertNothingUntil(7_000 + WHOLE - 1);
    now = 7_000 + WHOLE;
    assertEquals(Set.of(ATTEMPT), backstops.poll());
  }

  @Test
  void shouldWaitWhileAResultIsBeingStored() {
    backstops.sent(ATTEMPT, TIMEOUT);
    assertTrue(backstops.beginStoring(ATTEMPT));
    now = WHOLE;
    assertEquals(Set.of(), backstops.poll());
    backstops.endStoring(ATTEMPT);
    now += Limits.BACKSTOP.toMillis();
    assertEquals(Set.of(ATTEMPT), backstops.poll());
  }

  @Test
  void shouldForgetWhatHasEndedAndWhatHasNoTimeout() {
    backstops.sent(ATTEMPT, TIMEOUT);
    backstops.ended(ATTEMPT);
    backstops.sent(new AttemptRef(1, 1, 1), 0);
    backstops.known(new AttemptRef(1, 2, 1), 0);
    now = 10 * WHOLE;
    assertEquals(Set.of(), backstops.poll());
  }

  private void assertNothingUntil(long moment) {
    now = moment;
    assertEquals(Set.of(), backstops.poll());
  }
}
