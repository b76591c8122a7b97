package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PlannerTest {
  private final EngineFixture cluster = new EngineFixture();

  @AfterEach
  void loadEqualsLive() {
    cluster.assertLoadEqualsLive();
  }

  private Map<String, Integer> perWorker(List<Effect.SendAssign> sent) {
    Map<String, Integer> counts = new HashMap<>();
    sent.forEach(s -> counts.merge(s.to().workerId(), 1, Integer::sum));
    return counts;
  }

  @Test
  void shouldAssignNothingWithoutWorkOrWorkers() {
    cluster.assign().nothing();
    cluster.submit(Flow.of("a"));
    cluster.assign().nothing();
    cluster.worker("w", 0);
    cluster.assign().nothing();
    cluster.worker("v", 1, "zip");
    cluster.assign().nothing();
  }

  @Test
  void shouldNeverExceedTheSlots() {
    cluster.worker("w", 3);
    cluster.submit(Flow.wide(10));
    assertEquals(3, cluster.assignAll().size());
  }

  @Test
  void shouldTakeTheLeastLoadedCountingWhatWasJustSent() {
    cluster.worker("a", 2);
    cluster.worker("b", 4);
    cluster.worker("c", 10);
    cluster.submit(Flow.wide(8));
    assertEquals(Map.of("a", 1, "b", 2, "c", 5), perWorker(cluster.assignAll()));
    cluster.submit(Flow.wide(8));
    assertEquals(Map.of("a", 1, "b", 2, "c", 5), perWorker(cluster.assignAll()));
    cluster.submit(Flow.wide(1));
    cluster.assign().nothing();
  }

  @Test
  void shouldGiveNothingToAWorkerThatIsSuspectOrUnregistered() {
    WorkerLife w = cluster.worker("w", 1);
    cluster.submit(Flow.of("a"));
    cluster.advanceInSilence(Limits.SUSPECT_AFTER).assign().nothing();
    cluster.fleet.heard(w, cluster.now());
    cluster.fleet.unregister("w");
    cluster.assign().nothing();
    cluster.register(w, 1, Flow.TYPE);
    assertEquals(1, cluster.assignAll().size());
  }

  @Test
  void shouldGiveNothingToAnOlderLife() {
    WorkerLife w = cluster.worker("w", 1);
    WorkerLife next = cluster.restarted(w, 1);
    cluster.fleet.streamOpened(w, cluster.now());
    cluster.submit(Flow.of("a", "b"));
    assertEquals(List.of(next), cluster.assignAll().stream().map(Effect.SendAssign::to).toList());
  }

  @Test
  void shouldAssignByPriorityThenAgeOfTheRunThenPlaceInIt() {
    cluster.submit(Flow.of("a1", "a2").priority("a2", 9));
    cluster.submit(Flow.of("b1", "b2").priority("b1", 10));
    cluster.submit(Flow.of("c1").priority(1));
    cluster.worker("w", 9);
    assertEquals(List.of("b1", "a2", "a1", "b2", "c1"), cluster.assignedTasks());
  }

  @Test
  void shouldLetLowerPrioritiesHaveTheirTurn() {
    cluster.submit(Flow.wide(200).priority(10));
    cluster.submit(Flow.of("low0", "low1").priority(1));
    cluster.submit(Flow.of("mid0", "mid1", "mid2").priority(5));
    cluster.worker("w", 1_000);
    List<String> order = cluster.assignedTasks();
    assertEquals("mid0", order.get(19));
    assertEquals("low0", order.get(39));
    assertEquals("mid1", order.get(59));
    assertEquals("low1", order.get(79));
    assertEquals("mid2", order.get(99));
    assertTrue(order.get(119).startsWith("t"));
    assertEquals(205, order.size());
  }

  @Test
  void shouldNotMissATurnForAWorkersSake() {
    cluster.submit(Flow.wide(100).priority(10));
    cluster.submit(Flow.of("low").priority(1));
    WorkerLife w = cluster.worker("w", 1);
    for (int i = 0; i < 19; i++) {
      Effect.SendAssign sent = cluster.assignAll().getFirst();
      Run run = cluster.state.run(sent.attempt().run());
      cluster.result(
          w,
          java.util.Objects.requireNonNull(run).nameOf(sent.attempt().task(), 1),
          EngineFixture.success());
    }
    assertEquals(List.of("low"), cluster.assignedTasks());
  }

  @Test
  void shouldNotLetATypeWithoutWorkersDelayAnother() {
    cluster.submit(Flow.wide(50).type("nobody").priority(10));
    cluster.submit(Flow.of("a").priority(1));
    cluster.worker("w", 1);
    assertEquals(List.of("a"), cluster.assignedTasks());
  }

  @Test
  void shouldNotLetATypeWhoseWorkersAreFullDelayAnother() {
    cluster.worker("x", 1, "x");
    cluster.worker("y", 1, "y");
    cluster.submit(Flow.of("x1", "x2", "x3").type("x").priority(10));
    cluster.submit(Flow.of("y1").type("y").priority(1));
    assertEquals(List.of("x1", "y1"), cluster.assignedTasks());
  }

  @Test
  void shouldOfferShellToThoseWhoNameItOnly() {
    cluster.worker("star", 9, "*");
    cluster.submit(Flow.of("a", "b").type("b", "shell"));
    assertEquals(List.of("a"), cluster.assignedTasks());
    cluster.worker("sh", 1, "shell");
    assertEquals(List.of("b"), cluster.assignedTasks());
  }

  @Test
  void shouldLetAStarDoTheMostUrgentOfAllTypes() {
    cluster.worker("named", 1, "x");
    cluster.worker("star", 2, "*");
    cluster.submit(Flow.of("s").type("shell").priority(10));
    cluster.submit(Flow.of("y1", "y2").type("y").priority(3));
    cluster.submit(Flow.of("x1", "x2").type("x").priority(8));
    assertEquals(List.of("x1", "x2", "y1"), cluster.assignedTasks());
  }

  @Test
  void shouldUseANamedWorkerWhenTheStarsAreFull() {
    cluster.worker("star", 1, "*");
    cluster.submit(Flow.of("y1", "y2").type("y").priority(9));
    assertEquals(List.of("y1"), cluster.assignedTasks());
    cluster.worker("named", 1, "x");
    cluster.submit(Flow.of("x1").type("x").priority(1));
    assertEquals(List.of("x1"), cluster.assignedTasks());
  }

  @Test
  void shouldTakeTheHighestPriorityOverAllTypes() {
    cluster.worker("w", 3, "x", "y");
    cluster.submit(Flow.of("x1", "x2").type("x").priority(4));
    cluster.submit(Flow.of("y1", "y2").type("y").priority(6));
    assertEquals(List.of("y1", "y2", "x1"), cluster.assignedTasks());
  }

  /** The turn belongs to a type: it must not make the type's urgent work wait for other types. */
  @Test
  void shouldNotLetATurnRankATypeBelowAnother() {
    cluster.worker("w", 60, "x", "y");
    cluster.submit(Flow.wide(40).type("x").priority(10));
    cluster.submit(Flow.of("low").type("x").priority(1));
    cluster.submit(Flow.wide(100).type("y").priority(5));
    List<String> order = cluster.assignedTasks();
    assertEquals("low", order.get(19));
    assertEquals(1, Collections.frequency(order.subList(0, 41), "low"));
    assertEquals(60, order.size());
    assertEquals(0, cluster.state.ready().size("x"), "All of the urgent type came first");
  }

  @Test
  void shouldAssignARetryOnlyWhenItIsDue() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(2)));
    cluster.assignAll();
    long delay = cluster.fail(run, "a", 1).ended().retryAfterMs();
    cluster.advance(Duration.ofMillis(delay - 1)).assign().nothing();
    cluster.advance(Duration.ofMillis(1));
    assertEquals(List.of("a"), cluster.assignedTasks());
    assertEquals(2, cluster.task(run, "a").lastNumber());
  }
}
