package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class JournalClockTest {
  private static final long MS = 1_000_000;

  private final JournalClock clock = new JournalClock();

  @Test
  void shouldGoByTheWallClockOnlyUntilAHeadIsSeen() {
    clock.assume(0, 5_000, 100 * MS);
    assertEquals(5_000, clock.now(100 * MS));
    assertEquals(5_250, clock.now(350 * MS));
    clock.observe(4_000, 400 * MS);
    assertEquals(4_000, clock.now(400 * MS), "whoever leads has another wall clock");
    clock.assume(4_000, 90_000, 500 * MS);
    assertEquals(4_100, clock.now(500 * MS), "a head was seen: the wall clock counts no more");
  }

  @Test
  void shouldBeginAfterTheLastHeadWhenTheWallClockIsBehind() {
    clock.assume(8_000, 5_000, 100 * MS);
    assertEquals(8_000, clock.now(100 * MS));
  }

  @Test
  void shouldNotLookAtTheWallClockWhenTheStateIsLoadedAgain() {
    clock.assume(8_000, 9_000, 0);
    clock.assume(8_000, 700_000, 5_000 * MS);
    assertEquals(14_000, clock.now(5_000 * MS), "nobody has led: by the monotonic clock");
    clock.assume(12_000, 700_000, 6_000 * MS);
    assertEquals(12_000, clock.now(6_000 * MS), "somebody has led since, by another clock");
  }

  @Test
  void shouldGoOnAsItLedWhenAnotherHasLedMeanwhile() {
    clock.assume(0, 5_000, 0);
    clock.lead();
    clock.assume(9_000, 700_000, 10_000 * MS);
    assertEquals(15_000, clock.now(10_000 * MS));
  }

  @Test
  void shouldNotFallBehindTheHeadThatIsLoaded() {
    clock.assume(0, 5_000, 0);
    clock.lead();
    clock.assume(600_000, 5_000, 10_000 * MS);
    assertEquals(600_000, clock.now(10_000 * MS), "who led meanwhile had another wall clock");
  }

  @Test
  void shouldNeverGoBack() {
    clock.observe(10_000, 0);
    clock.observe(9_000, 10 * MS);
    assertEquals(10_010, clock.now(10 * MS));
    clock.observe(10_005, 10 * MS);
    assertEquals(10_010, clock.now(10 * MS));
    clock.observe(20_000, 20 * MS);
    assertEquals(20_000, clock.now(20 * MS));
  }
}
