package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.baton.scheduler.engine.Event.AttemptAdopted;
import dev.baton.scheduler.engine.Event.AttemptAssigned;
import dev.baton.scheduler.engine.Event.AttemptEnded;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.OnFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ClusterStateTest {
  private final EngineFixture cluster = new EngineFixture();

  private static AttemptEnded ended(AttemptRef attempt, Outcome outcome, long retryAfter) {
    return new AttemptEnded(attempt, outcome, Output.NONE, "", 0, retryAfter);
  }

  /** Events that no engine decides: applying one is a bug that must not go unseen. */
  static List<Event> impossibleEvents() {
    long ended = 101L << 16 | 1;
    long running = 102L << 16;
    return List.of(
        new AttemptAssigned(new AttemptRef(999, 0, 1), 1),
        new AttemptAssigned(new AttemptRef(ended, 0, 2), 1),
        new AttemptAssigned(new AttemptRef(running, 0, 2), 1),
        new AttemptAssigned(new AttemptRef(running, 1, 1), 1),
        new AttemptAssigned(new AttemptRef(running, 2, 2), 1),
        new AttemptAssigned(new AttemptRef(running, 2, 1), 77),
        new AttemptAdopted(new AttemptRef(running, 0, 2), 1),
        new AttemptAdopted(new AttemptRef(running, 2, 1), 1),
        new AttemptAdopted(new AttemptRef(ended, 0, 1), 1),
        ended(new AttemptRef(running, 0, 2), Outcome.SUCCESS, AttemptEnded.FINAL),
        ended(new AttemptRef(running, 2, 0), Outcome.SUCCESS, AttemptEnded.FINAL),
        ended(new AttemptRef(ended, 0, 1), Outcome.SUCCESS, AttemptEnded.FINAL),
        new Event.RunRetired(running, 0),
        new Event.RunCancelled(999, "", ""),
        new Event.SpecDropped(101L << 16),
        new Event.SpecDropped(999));
  }

  @ParameterizedTest
  @MethodSource("impossibleEvents")
  void shouldRefuseAnImpossibleEvent(Event event) {
    cluster.worker("w", 1);
    Flow flow = Flow.of("a", "b < a", "c");
    Run first = cluster.submit(flow);
    Run second = cluster.submit(flow);
    assertEquals(101L << 16 | 1, first.number());
    assertEquals(102L << 16, second.number());
    cluster.assign();
    cluster.cancel(first);
    cluster.succeed(first, "a", 1);
    cluster.assign();
    assertThrows(IllegalStateException.class, () -> cluster.apply(event));
  }

  @Test
  void shouldNotEndTheSameAttemptTwice() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assign();
    cluster.lose(w);
    for (Outcome outcome : List.of(Outcome.FAILED, Outcome.TIMEOUT, Outcome.LOST)) {
      assertThrows(
          IllegalStateException.class,
          () -> cluster.apply(ended(cluster.ref(run, "a", 1), outcome, AttemptEnded.FINAL)));
    }
  }

  @Test
  void shouldKeepTheOrderInWhichRunsEndedOverARestore() {
    cluster.worker("w", 10);
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      runs.add(cluster.submit(Flow.of("a")));
    }
    cluster.assignAll();
    for (int i : new int[] {3, 1, 4}) {
      cluster.advance(Duration.ofMillis(1)).succeed(runs.get(i), "a", 1);
    }
    cluster.succeed(runs.get(2), "a", 1);
    cluster.succeed(runs.get(0), "a", 1);
    List<Run> order = List.copyOf(cluster.state.ended());
    assertEquals(List.of(runs.get(3), runs.get(1), runs.get(0), runs.get(2), runs.get(4)), order);
    cluster.assertLoadEqualsLive();
  }

  @Test
  void shouldLoadWhatRunsWaitsAndStops() {
    cluster.worker("w", 4);
    cluster.submit(
        Flow.of("a", "b < a", "c", "d").retry(Flow.attempts(3)).timeout(Duration.ofHours(1)));
    Run stopping = cluster.submit(Flow.of("a", "b < a").timeout(Duration.ofHours(1)));
    Run failing =
        cluster.submit(Flow.of("a", "b", "c < b").onFailure(OnFailure.CANCEL).priority(9));
    cluster.assignAll();
    cluster.fail(failing, "a", 1);
    Run first = cluster.state.runs().iterator().next();
    cluster.fail(first, "a", 1);
    cluster.assignAll();
    cluster.cancel(stopping);
    assertEquals(TaskStatus.READY, cluster.task(first, "a").status());
    cluster.assertLoadEqualsLive();
  }

  @Test
  void shouldCountTheTurnsAlikeOnANodeThatNeverAssigns() {
    Definitions definitions = cluster.definitions;
    ClusterState standby = new ClusterState(EngineFixture.GENERATION, definitions);
    standby.enterTerm(7);
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(3)));
    // The standby loads while only a retry waits, and never sees it come due.
    cluster.assign();
    cluster.fail(run, "a", 1);
    ClusterState loaded = StateImage.restored(cluster.state, EngineFixture.GENERATION);
    cluster.advance(Duration.ofMinutes(1));
    Decision decision = cluster.assign().decision();
    decision.events().forEach(event -> loaded.apply(event, cluster.seq(), cluster.now()));
    StateImage.assertSame(
        StateImage.of(cluster.state, cluster.now()), StateImage.of(loaded, cluster.now()));
    assertEquals(1, loaded.workers().runningCount(w));
  }
}
