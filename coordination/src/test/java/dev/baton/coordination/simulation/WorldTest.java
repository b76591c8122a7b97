package dev.baton.coordination.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.Strand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Time, chance and strands. */
class WorldTest {
  private static final Duration LONG = Duration.ofSeconds(10);

  private final World world = new World(7);
  private final List<String> told = new ArrayList<>();

  @Test
  void shouldRunEventsInTheOrderOfTimeAndThenAsTheyCame() {
    long start = world.nanoTime();
    assertTrue(start > 0);
    world.after(Duration.ofMillis(2), () -> told.add("later"));
    world.after(Duration.ofMillis(1), () -> told.add("first"));
    world.after(
        Duration.ofMillis(1),
        () -> {
          told.add("second");
          world.after(Duration.ZERO, () -> told.add("third"));
        });
    while (world.step()) {
      assertTrue(world.nanoTime() - start <= 2_000_000);
    }
    assertEquals(List.of("first", "second", "third", "later"), told);
    assertEquals(4, world.events());
    assertEquals(start + 2_000_000, world.nanoTime());
  }

  @Test
  void shouldMoveTimeWithoutEvents() {
    long start = world.nanoTime();
    world.after(Duration.ofHours(2), () -> told.add("far"));
    world.runFor(Duration.ofHours(1));
    assertEquals(Duration.ofHours(1).toNanos(), world.nanoTime() - start);
    assertFalse(world.runUntil(Duration.ofMinutes(59), () -> !told.isEmpty()));
    assertTrue(world.runUntil(Duration.ofMinutes(2), () -> !told.isEmpty()));
    assertEquals(Duration.ofHours(2).toNanos(), world.nanoTime() - start);
  }

  @Test
  void shouldGoTheSameWayWithTheSameSeedOnly() {
    assertEquals(trace(42), trace(42));
    assertNotEquals(trace(42), trace(43));
  }

  private static List<Long> trace(long seed) {
    World world = new World(seed);
    List<Long> trace = new ArrayList<>();
    for (String owner : List.of("a", "b")) {
      Strand strand = world.strand(owner);
      for (int i = 0; i < 50; i++) {
        strand.schedule(
            Duration.ofNanos(world.random().nextInt(1_000_000)),
            () -> strand.execute(() -> trace.add(strand.nanoTime())));
      }
    }
    world.runFor(LONG);
    assertEquals(100, trace.size());
    trace.add(world.fingerprint());
    return trace;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void shouldKeepTheOrderOfTasks(long seed) {
    World chance = new World(seed);
    SimulatedStrand strand = chance.strand("a");
    List<Integer> ran = new ArrayList<>();
    int[] given = {0};
    for (int i = 0; i < 200; i++) {
      chance.after(
          Duration.ofNanos(chance.random().nextInt(5_000_000)),
          () -> {
            int mine = given[0]++;
            strand.execute(() -> ran.add(mine));
          });
    }
    chance.after(Duration.ofMillis(1), strand::pause);
    chance.after(Duration.ofMillis(3), strand::resume);
    chance.runFor(LONG);
    assertEquals(IntStream.range(0, 200).boxed().toList(), ran);
  }

  @Test
  void shouldRunNoTaskInsideOfTheOneThatGaveIt() {
    Strand strand = world.strand("a");
    strand.execute(() -> {
      strand.execute(() -> told.add("inner"));
      strand.schedule(Duration.ZERO, () -> told.add("timer"));
      told.add("outer");
    });
    assertEquals(List.of(), told);
    world.runFor(LONG);
    assertEquals("outer", told.getFirst());
    assertEquals(3, told.size());
  }

  @Test
  void shouldGiveOwnersClocksThatCannotBeCompared() {
    SimulatedStrand one = world.strand("a");
    SimulatedStrand same = world.strand("a");
    SimulatedStrand other = world.strand("b");
    assertEquals(one.nanoTime(), same.nanoTime());
    assertTrue(Math.abs(one.nanoTime() - other.nanoTime()) > LONG.toNanos());
    long before = one.nanoTime();
    long beforeOther = other.nanoTime();
    long wall = other.wallMillis();
    world.skewWall("a", Duration.ofMinutes(-10));
    world.runFor(LONG);
    assertEquals(LONG.toNanos(), one.nanoTime() - before);
    assertEquals(LONG.toNanos(), other.nanoTime() - beforeOther);
    assertEquals(LONG.toMillis(), other.wallMillis() - wall);
    assertEquals(Duration.ofMinutes(10).toMillis(), other.wallMillis() - one.wallMillis());
  }

  @Test
  void shouldRunWhatBecameDueMeanwhileWhenItIsResumed() {
    SimulatedStrand strand = world.strand("a");
    long start = strand.nanoTime();
    world.pause("a");
    strand.schedule(Duration.ofMillis(30), () -> told.add("third"));
    strand.schedule(Duration.ofMillis(20), () -> told.add("second"));
    strand.schedule(Duration.ofSeconds(5), () -> told.add("later"));
    strand.execute(() -> told.add("first"));
    world.runFor(Duration.ofSeconds(1));
    assertEquals(List.of(), told);
    world.resume("a");
    strand.execute(() -> told.add("fourth"));
    assertTrue(world.runUntil(Duration.ofSeconds(1), () -> told.size() == 4));
    assertEquals(List.of("first", "second", "third", "fourth"), told);
    assertTrue(strand.nanoTime() - start >= Duration.ofSeconds(1).toNanos());
    world.runFor(LONG);
    assertEquals("later", told.getLast());
  }

  @Test
  void shouldDropEverythingOfACrashedStrand() {
    SimulatedStrand strand = world.strand("a");
    strand.schedule(Duration.ofMillis(20), () -> told.add("timer"));
    strand.execute(() -> told.add("task"));
    world.crash("a");
    strand.execute(() -> told.add("later task"));
    strand.schedule(Duration.ZERO, () -> told.add("later timer"));
    strand.resume();
    SimulatedStrand next = world.strand("a");
    next.execute(() -> told.add("next life"));
    world.runFor(LONG);
    assertEquals(List.of("next life"), told);
    assertTrue(strand.isCrashed());
  }

  @Test
  void shouldNotRunATimerThatIsCalledOffBeforeItsTurn() {
    SimulatedStrand strand = world.strand("a");
    Strand.Timer early = strand.schedule(Duration.ofMillis(1), () -> told.add("early"));
    early.cancel();
    early.cancel();
    Strand.Timer due = strand.schedule(Duration.ofMillis(1), () -> told.add("due"));
    strand.pause();
    world.runFor(Duration.ofMillis(2));
    strand.execute(() -> told.add("task"));
    due.cancel();
    strand.resume();
    world.runFor(LONG);
    assertEquals(List.of("task"), told);
  }

  @Test
  void shouldBeOnTimeWithMostTimersAndLateWithSome() {
    Strand strand = world.strand("a");
    List<Long> late = new ArrayList<>();
    for (int i = 1; i <= 100; i++) {
      long due = strand.nanoTime() + Duration.ofMillis(10L * i).toNanos();
      strand.schedule(Duration.ofMillis(10L * i), () -> late.add(strand.nanoTime() - due));
    }
    world.runFor(LONG);
    assertEquals(100, late.size());
    assertTrue(late.stream().allMatch(nanos -> nanos >= 0));
    assertTrue(late.stream().filter(nanos -> nanos > 0).count() >= 3);
    assertTrue(late.stream().filter(nanos -> nanos == 0).count() >= 50);
  }

  @Test
  void shouldThrowWhatATaskThrew() {
    Strand strand = world.strand("a");
    IllegalStateException fault = new IllegalStateException("broken");
    strand.execute(() -> {
      throw fault;
    });
    strand.execute(() -> told.add("next"));
    assertSame(fault, assertThrows(IllegalStateException.class, world::step));
    world.runFor(LONG);
    assertEquals(List.of("next"), told);
  }

  @Test
  void shouldGiveFaultsToTheirHandler() {
    Strand strand = world.strand("a", fault -> told.add(String.valueOf(fault.getMessage())));
    strand.schedule(
        Duration.ofMillis(1),
        () -> {
          throw new IllegalStateException("broken");
        });
    world.runFor(LONG);
    assertEquals(List.of("broken"), told);
  }
}
