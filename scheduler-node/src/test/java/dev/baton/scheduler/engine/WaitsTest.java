package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.baton.scheduler.engine.Waits.Kind;
import dev.baton.scheduler.engine.Waits.Wait;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.WorkerLife;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WaitsTest {
  private final EngineFixture cluster = new EngineFixture();

  private Waits waits() {
    return new Waits(cluster.state, cluster.fleet, cluster.now());
  }

  private Wait wait(Run run, String task) {
    Wait wait = waits().of(run, run.workflow().indexOf(task).orElseThrow());
    assertNotNull(wait, () -> task + " waits");
    return wait;
  }

  private void expect(Kind kind, String text, Run run, String task) {
    assertEquals(new Wait(kind, text), wait(run, task));
  }

  private void expectCounts(Map<Kind, Integer> expected) {
    Map<Kind, Integer> all = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      all.put(kind, expected.getOrDefault(kind, 0));
    }
    assertEquals(all, waits().counts());
  }

  @Test
  void shouldNameTheFirstReasonThatHolds() {
    Run run = cluster.submit(Flow.of("a", "b < a"));
    expect(Kind.DEPENDENCY, "waits for a", run, "b");
    expect(Kind.NO_WORKER, "no worker for " + Flow.TYPE, run, "a");
    expectCounts(Map.of(Kind.DEPENDENCY, 1, Kind.NO_WORKER, 1));

    WorkerLife w = cluster.worker("w", 1);
    expect(Kind.NEXT, "is about to be assigned", run, "a");
    cluster.decide(new Command.Cordon(new Command.CallId(1), "w", false, "", "ann"));
    expect(Kind.CORDONED, "no worker for " + Flow.TYPE + " in service: w cordoned", run, "a");
    cluster.decide(new Command.Uncordon(new Command.CallId(1), "w"));

    cluster.advanceInSilence(Limits.SUSPECT_AFTER);
    expect(Kind.NOT_CONNECTED, "no worker for " + Flow.TYPE + " is heard of: w", run, "a");
    cluster.fleet.heard(w, cluster.now());

    Run other = cluster.submit(Flow.of("c"));
    cluster.assignAll();
    assertNull(waits().of(run, 0), "it runs");
    expect(
        Kind.WORKERS_FULL,
        "workers full: no slot for " + Flow.TYPE + " is free (1 in all), and 1 task of it waits",
        other,
        "c");
    expectCounts(Map.of(Kind.DEPENDENCY, 1, Kind.WORKERS_FULL, 1));
  }

  @Test
  void shouldTellWhenARetryIsDue() {
    cluster.worker("w", 2);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(2)));
    cluster.assignAll();
    Event.AttemptEnded failed = cluster.fail(run, "a", 1).ended();
    long seconds = (failed.retryAfterMs() + 999) / 1000;
    expect(Kind.RETRY, "retry in " + seconds + " s", run, "a");
    expectCounts(Map.of(Kind.RETRY, 1));
  }

  @Test
  void shouldCountTheTasksThatWaitForEachReason() {
    cluster.worker("w", 2);
    cluster.submit(Flow.of("a", "b", "c", "d < a", "e < a"));
    cluster.submit(Flow.of("x", "y < x"));
    cluster.assignAll();
    expectCounts(Map.of(Kind.DEPENDENCY, 3, Kind.WORKERS_FULL, 2));
  }
}
