package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.baton.scheduler.engine.ReadyQueues.Head;
import dev.baton.scheduler.engine.ReadyQueues.ReadyTask;
import dev.baton.scheduler.engine.ReadyQueues.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReadyQueuesTest {
  private final ReadyQueues ready = new ReadyQueues();

  private static ReadyTask task(long run, int task) {
    return new ReadyTask(run, task);
  }

  private void take(String type, int priority, ReadyTask task) {
    ready.remove(type, priority, task, 0);
    ready.assigned(type, priority);
  }

  @Test
  void shouldBeEmptyAtFirst() {
    assertNull(ready.next("x"));
    assertEquals(0, ready.size("x"));
    assertEquals(Set.of(), ready.types());
    assertEquals(Long.MAX_VALUE, ready.nextDue());
    assertEquals(Map.of(), ready.turns());
  }

  @Test
  void shouldOrderByPriorityThenRunThenTask() {
    ready.add("x", 5, task(2, 0), 0);
    ready.add("x", 5, task(1, 7), 0);
    ready.add("x", 5, task(1, 3), 0);
    ready.add("x", 6, task(9, 9), 0);
    for (ReadyTask expected : new ReadyTask[] {task(9, 9), task(1, 3), task(1, 7), task(2, 0)}) {
      assertEquals(expected, ready.next("x"));
      take("x", expected.run() == 9 ? 6 : 5, expected);
    }
    assertNull(ready.next("x"));
  }

  @Test
  void shouldKeepTypesApart() {
    ready.add("x", 5, task(1, 0), 0);
    ready.add("y", 5, task(1, 1), 0);
    assertEquals(Set.of("x", "y"), ready.types());
    take("x", 5, task(1, 0));
    assertEquals(Set.of("y"), ready.types());
    assertEquals(1, ready.size());
  }

  @Test
  void shouldHoldRetriesBackUntilTheyAreDue() {
    ready.add("x", 5, task(1, 0), 200);
    ready.add("x", 5, task(1, 1), 100);
    assertEquals(100, ready.nextDue());
    ready.promote(99);
    assertEquals(2, ready.delayedSize());
    assertNull(ready.next("x"));
    ready.promote(100);
    assertEquals(task(1, 1), ready.next("x"));
    assertEquals(1, ready.delayedSize());
  }

  @Test
  void shouldTakeOutARetryWhereverItIs() {
    ready.add("x", 5, task(1, 0), 200);
    ready.add("x", 5, task(1, 1), 100);
    ready.promote(100);
    ready.remove("x", 5, task(1, 1), 100);
    ready.remove("x", 5, task(1, 0), 200);
    assertEquals(0, ready.size());
    assertEquals(0, ready.delayedSize());
    assertThrows(IllegalStateException.class, () -> ready.remove("x", 5, task(1, 0), 200));
    assertThrows(IllegalStateException.class, () -> ready.remove("x", 5, task(1, 0), 0));
  }

  @Test
  void shouldRankATypeByItsMostUrgentTaskAlsoInTheTurnOfALowerOne() {
    ready.add("x", 9, task(1, 0), 0);
    ready.add("x", 2, task(2, 0), 0);
    ready.restoreTurn("x", new Turn(19, 0));
    assertEquals(task(2, 0), ready.next("x"));
    assertEquals(new Head(9, task(1, 0), "x"), ready.head("x"));
  }

  @Test
  void shouldListTheHeadsOfTypesMostUrgentFirst() {
    ready.add("x", 5, task(3, 0), 0);
    ready.add("y", 5, task(2, 0), 0);
    ready.add("z", 7, task(9, 0), 0);
    ready.add("x", 1, task(1, 0), 0);
    List<String> order = new ArrayList<>();
    ready.heads().forEach(head -> order.add(head.type()));
    assertEquals(List.of("z", "y", "x"), order);
    ready.remove("z", 7, task(9, 0), 0);
    ready.remove("x", 5, task(3, 0), 0);
    assertEquals(new Head(1, task(1, 0), "x"), ready.head("x"));
    assertNull(ready.head("z"));
  }

  @Test
  void shouldGiveTheTurnToTheOnlyPriorityThereIs() {
    ready.add("x", 2, task(2, 0), 0);
    ready.restoreTurn("x", new Turn(19, 2));
    assertEquals(task(2, 0), ready.next("x"));
  }

  @Test
  void shouldForgetATypeOfWhichNothingWaits() {
    ready.add("x", 5, task(1, 0), 0);
    ready.add("x", 5, task(1, 1), 500);
    take("x", 5, task(1, 0));
    assertEquals(Map.of("x", new Turn(1, 0)), ready.turns(), "A retry waits");
    ready.remove("x", 5, task(1, 1), 500);
    assertEquals(Map.of(), ready.turns());
    ready.assigned("x", 5);
    assertEquals(Map.of(), ready.turns());
  }
}
