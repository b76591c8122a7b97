package dev.baton.scheduler.engine;

import static dev.baton.scheduler.engine.EngineFixture.failure;
import static dev.baton.scheduler.engine.EngineFixture.result;
import static dev.baton.scheduler.engine.EngineFixture.success;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.engine.Command.Result;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.RetryPolicy;
import dev.baton.workflow.RetryPolicy.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AttemptRulesTest {
  private final EngineFixture cluster = new EngineFixture();

  @AfterEach
  void loadEqualsLive() {
    cluster.assertLoadEqualsLive();
  }

  // Retries.

  @ParameterizedTest(name = "{0}, failure {2} of {1}, finalOn {3}, says final {4}, stopping {5}")
  @CsvSource({
    "FAILED,  1, 1, -,       false, false, FAILED",
    "FAILED,  2, 1, -,       false, false, READY",
    "FAILED,  2, 2, -,       false, false, FAILED",
    "FAILED,  3, 2, -,       false, false, READY",
    "FAILED,  3, 1, ERROR,   false, false, FAILED",
    "FAILED,  3, 1, TIMEOUT, false, false, READY",
    "FAILED,  3, 1, -,       true,  false, FAILED",
    "FAILED,  3, 1, -,       false, true,  FAILED",
    "TIMEOUT, 1, 1, -,       false, false, TIMEOUT",
    "TIMEOUT, 2, 1, -,       false, false, READY",
    "TIMEOUT, 2, 2, -,       false, false, TIMEOUT",
    "TIMEOUT, 3, 1, TIMEOUT, false, false, TIMEOUT",
    "TIMEOUT, 3, 1, ERROR,   false, false, READY",
    "TIMEOUT, 3, 1, -,       true,  false, TIMEOUT",
    "TIMEOUT, 3, 1, -,       false, true,  TIMEOUT",
  })
  void shouldRetryByThePolicy(
      Outcome outcome,
      int attempts,
      int failure,
      String finalOn,
      boolean saysFinal,
      boolean stopping,
      TaskStatus after) {
    Failure[] finals =
        finalOn.equals("-") ? new Failure[0] : new Failure[] {Failure.valueOf(finalOn)};
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(attempts, finals)));
    for (int i = 1; i < failure; i++) {
      cluster.assignAll();
      cluster.result(run, "a", i, result(outcome));
      cluster.advance(Duration.ofMinutes(2));
    }
    cluster.assignAll();
    if (stopping) {
      cluster.cancel(run);
    }
    Result result = new Result(outcome, Output.NONE, "no", 3, saysFinal);
    cluster.result(run, "a", failure, result).acked(Verdict.ACCEPTED);
    cluster.expect(run, "a", after);
    assertEquals(after != TaskStatus.READY, run.status().isTerminal());
  }

  @Test
  void shouldCountFailuresOfBothKindsTogether() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(2)));
    cluster.assignAll();
    cluster.result(run, "a", 1, result(Outcome.TIMEOUT));
    cluster.advance(Duration.ofMinutes(2)).assignAll();
    assertTrue(cluster.fail(run, "a", 2).ended().isFinal());
  }

  @Test
  void shouldDoubleTheDelayUpToTheLongest() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(12)));
    long[] plain = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000};
    for (int i = 0; i < plain.length; i++) {
      cluster.assignAll();
      long delay = cluster.fail(run, "a", i + 1).ended().retryAfterMs();
      assertTrue(delay >= plain[i] * 3 / 4, () -> "Too short: " + delay);
      assertTrue(delay <= Math.min(60000, plain[i] * 5 / 4), () -> "Too long: " + delay);
      cluster.advance(Duration.ofMillis(delay - 1)).assign().nothing();
      assertEquals(cluster.now() + 1, cluster.state.ready().nextDue());
      cluster.advance(Duration.ofMillis(1));
    }
  }

  @Test
  void shouldSpreadDelaysByRunAndAttemptAlsoAtTheLongest() {
    List<Long> delays = new ArrayList<>();
    RetryPolicy policy =
        new RetryPolicy(50, Duration.ofSeconds(9), Duration.ofSeconds(10), Set.of(), 5);
    cluster.worker("w", 100);
    Flow flow = Flow.wide(100).retry(policy);
    Run run = cluster.submit(flow);
    for (int attempt = 1; attempt < 4; attempt++) {
      cluster.assignAll();
      for (int i = 0; i < 100; i++) {
        delays.add(cluster.fail(run, "t" + i, attempt).ended().retryAfterMs());
      }
      cluster.advance(Duration.ofSeconds(11));
    }
    long distinct = delays.stream().distinct().count();
    assertTrue(distinct > 120, () -> "Only " + distinct + " different delays of 300");
  }

  @Test
  void shouldGiveTheSameDelayOnEveryNode() {
    EngineFixture other = new EngineFixture();
    List<Long> delays = new ArrayList<>();
    for (EngineFixture one : List.of(cluster, other)) {
      one.worker("w", 1);
      Run run = one.submit(Flow.of("a").retry(Flow.attempts(2)));
      one.assignAll();
      delays.add(one.fail(run, "a", 1).ended().retryAfterMs());
    }
    assertEquals(delays.get(0), delays.get(1));
  }

  // Losses.

  @Test
  void shouldCountLossesApartFromFailures() {
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(2)));
    int attempt = 0;
    for (int loss = 1; loss <= 5; loss++) {
      WorkerLife w = cluster.worker("w" + loss, 1);
      cluster.assignAll();
      attempt++;
      assertEquals(0, cluster.lose(w).ended().retryAfterMs());
      cluster.fleet.unregister(w.workerId());
    }
    WorkerLife good = cluster.worker("good", 1);
    cluster.assignAll();
    assertFalse(cluster.fail(run, "a", ++attempt).ended().isFinal());
    cluster.advance(Duration.ofMinutes(1)).assignAll();
    Event.AttemptEnded sixth = cluster.lose(good).ended();
    assertTrue(sixth.isFinal());
    assertTrue(sixth.reason().contains("lost 6 times, and its budget is 5"), sixth.reason());
    cluster.expect(run, "a", TaskStatus.FAILED);
    assertEquals(RunStatus.FAILED, run.status());
  }

  @Test
  void shouldCountALossThatWasTakenBackNoMore() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    for (int i = 0; i < 20; i++) {
      assertFalse(cluster.lose(w).ended().isFinal());
      cluster.inventory(w, cluster.name(run, "a", 1));
      cluster.expect(run, "a", TaskStatus.RUNNING);
    }
  }

  @Test
  void shouldAcceptTheLateSuccessOfALostAttempt() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a", "b < a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster.result(w, cluster.name(run, "a", 1), success()).acked(Verdict.ACCEPTED);
    cluster.expect(run, "a", TaskStatus.SUCCESS);
    cluster.expect(run, "b", TaskStatus.READY);
    assertEquals(1, cluster.state.ready().size());
  }

  @Test
  void shouldNotCountTheLateFailureOfALostAttempt() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster.result(w, cluster.name(run, "a", 1), failure()).acked(Verdict.STALE).events();
    cluster.expect(run, "a", TaskStatus.READY);
  }

  @Test
  void shouldRefuseAStaleAttempt() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster.assignAll();
    cluster.result(w, cluster.name(run, "a", 1), success()).acked(Verdict.STALE).events();
    cluster.result(w, cluster.name(run, "a", 3), success()).acked(Verdict.STALE).events();
    cluster.succeed(run, "a", 2).acked(Verdict.ACCEPTED);
  }

  @Test
  void shouldRefuseAnAttemptThatIsAnotherWorkers() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    WorkerLife thief = cluster.worker("thief", 1);
    cluster.result(thief, cluster.name(run, "a", 1), success()).acked(Verdict.STALE).events();
    cluster.expect(run, "a", TaskStatus.RUNNING);
  }

  @Test
  void shouldAcknowledgeARepeatedResultAgain() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.succeed(run, "a", 1).acked(Verdict.ACCEPTED);
    cluster.succeed(run, "a", 1).acked(Verdict.DUPLICATE).events();
    cluster.fail(run, "a", 1).acked(Verdict.DUPLICATE).events();
    cluster.expect(run, "a", TaskStatus.SUCCESS);
  }

  @Test
  void shouldNotKnowWhatHasLeft() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.finishAndRetire(run);
    for (AttemptName name :
        List.of(
            cluster.name(run, "a", 1),
            new AttemptName("nonsense", "a", 1),
            new AttemptName("", "", 0))) {
      cluster.result(w, name, success()).acked(Verdict.UNKNOWN).events();
      cluster.returned(w, name).acked(Verdict.UNKNOWN).events();
    }
    Run live = cluster.submit(Flow.of("a"));
    cluster.result(w, cluster.name(live, "zz", 1), success()).acked(Verdict.UNKNOWN);
    cluster.result(w, cluster.name(live, "a", 1), success()).acked(Verdict.STALE).events();
  }

  @Test
  void shouldTakeTheResultOfAnOlderLifeOfTheWorker() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    WorkerLife next = cluster.restarted(w, 1);
    cluster.result(next, cluster.name(run, "a", 1), success()).acked(Verdict.ACCEPTED);
    cluster.expect(run, "a", TaskStatus.SUCCESS);
  }

  @Test
  void shouldTakeACancelThatNobodyAskedForAsALoss() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    Event.AttemptEnded ended =
        cluster.result(run, "a", 1, result(Outcome.CANCELLED)).acked(Verdict.ACCEPTED).ended();
    assertEquals(Outcome.LOST, ended.outcome());
    cluster.expect(run, "a", TaskStatus.READY);
    assertEquals(2, cluster.assignAll().getFirst().attempt().attempt());
  }

  // Returns.

  @Test
  void shouldCountAReturnAgainstNothing() {
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(1)));
    for (int i = 1; i <= 30; i++) {
      WorkerLife w = cluster.worker("w", 1);
      cluster.assignAll();
      var decided = cluster.returned(w, cluster.name(run, "a", i)).acked(Verdict.ACCEPTED);
      assertEquals(Outcome.RETURNED, decided.ended().outcome());
      assertTrue(decided.ended().retryAfterMs() <= 5_000);
      cluster.expect(run, "a", TaskStatus.READY);
      cluster.advance(Duration.ofSeconds(6));
    }
    cluster.assignAll();
    cluster.succeed(run, "a", 31).acked(Verdict.ACCEPTED);
  }

  @Test
  void shouldKeepTheLastReturnsOnly() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(2)));
    cluster.assignAll();
    cluster.fail(run, "a", 1);
    for (int i = 2; i <= 40; i++) {
      cluster.advance(Duration.ofSeconds(6)).assignAll();
      cluster.returned(w, cluster.name(run, "a", i));
    }
    List<Attempt> kept = cluster.task(run, "a").attempts();
    assertEquals(1 + Limits.RETURNS_KEPT, kept.size());
    assertEquals(1, kept.getFirst().number());
    assertEquals(40, kept.getLast().number());
    cluster.advance(Duration.ofSeconds(6)).assignAll();
    assertTrue(cluster.fail(run, "a", 41).ended().isFinal(), "The failure still counts");
    cluster.retire(run);
    assertEquals(0, cluster.state.workers().ref(w));
  }

  @Test
  void shouldGiveAReturnedAttemptToAnotherWorkerAtOnce() {
    WorkerLife w = cluster.worker("a", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    WorkerLife other = cluster.worker("b", 1);
    cluster.returned(w, cluster.name(run, "a", 1));
    Effect.SendAssign again = cluster.assignAll().getFirst();
    assertEquals(new Effect.SendAssign(other, cluster.ref(run, "a", 2)), again);
  }

  @Test
  void shouldGiveNothingNewToAFullWorkerForAMoment() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.returned(w, cluster.name(run, "a", 1));
    cluster.assign().nothing();
    cluster.advance(Duration.ofMillis(100));
    assertEquals(1, cluster.assignAll().size());
  }

  @Test
  void shouldTryAWorkerThatReturnsEverythingLessAndLessOften() {
    WorkerLife w = cluster.worker("w", 3);
    cluster.submit(Flow.wide(200));
    int sent = 0;
    for (int i = 0; i < 300; i++) {
      for (Effect.SendAssign assign : cluster.assignAll()) {
        sent++;
        Run run = cluster.state.runs().iterator().next();
        cluster.returned(w, run.nameOf(assign.attempt().task(), assign.attempt().attempt()));
      }
      cluster.advance(Duration.ofMillis(100));
    }
    assertTrue(sent <= 3 * 12, "Sent and returned in 30 s: " + sent);
    cluster.inventory(w);
    assertEquals(3, cluster.assignAll().size());
  }

  @Test
  void shouldTryAFullWorkerAgainWhenItHandsOverAResult() {
    WorkerLife w = cluster.worker("w", 2);
    Run run = cluster.submit(Flow.wide(3));
    cluster.assignAll();
    cluster.returned(w, cluster.name(run, "t1", 1));
    cluster.assign().nothing();
    cluster.succeed(run, "t0", 1);
    assertEquals(2, cluster.assignAll().size());
  }

  @Test
  void shouldAcknowledgeLateReturns() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assign();
    cluster.returned(w, cluster.name(run, "a", 1)).acked(Verdict.ACCEPTED);
    cluster.returned(w, cluster.name(run, "a", 1)).acked(Verdict.DUPLICATE).events();
    cluster.result(w, cluster.name(run, "a", 1), success()).acked(Verdict.STALE).events();
    cluster.advance(Duration.ofSeconds(1)).assign();
    cluster.returned(w, cluster.name(run, "a", 1)).acked(Verdict.STALE).events();
    cluster.returned(w, cluster.name(run, "b", 1)).acked(Verdict.UNKNOWN).events();
    cluster.lose(w);
    cluster.returned(w, cluster.name(run, "a", 2)).acked(Verdict.STALE).events();
  }

  @Test
  void shouldEndAReturnedAttemptThatIsBeingCancelled() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.cancel(run);
    cluster.returned(w, cluster.name(run, "a", 1)).acked(Verdict.ACCEPTED);
    cluster.expect(run, "a", TaskStatus.CANCELLED);
    assertEquals(RunStatus.CANCELLED, run.status());
  }

  // Cancelled before it started.

  @Test
  void shouldEndACancelledAttemptThatItsWorkerNeverStarted() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    AttemptName name = cluster.name(run, "a", 1);
    cluster.decide(new Command.TakeCancelUnknown(w, name)).nothing();
    cluster.cancel(run);
    WorkerLife other = cluster.worker("v", 1);
    cluster.decide(new Command.TakeCancelUnknown(other, name)).nothing();
    cluster.decide(new Command.TakeCancelUnknown(w, cluster.name(run, "a", 2))).nothing();
    cluster.decide(new Command.TakeCancelUnknown(w, name));
    cluster.expect(run, "a", TaskStatus.CANCELLED);
    assertEquals(RunStatus.CANCELLED, run.status());
    cluster.decide(new Command.TakeCancelUnknown(w, name)).nothing();
  }

  // Inputs and the backstop.

  @Test
  void shouldFailForGoodWhenInputsCannotBeComputed() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a", "b < a").retry(Flow.attempts(5)));
    cluster.assignAll();
    cluster.decide(new Command.FailInputs(cluster.ref(run, "a", 2), "no")).nothing();
    Event.AttemptEnded ended =
        cluster.decide(new Command.FailInputs(cluster.ref(run, "a", 1), "no field x")).ended();
    assertTrue(ended.isFinal());
    assertEquals("task a: no field x", run.reason());
    assertEquals(RunStatus.FAILED, run.status());
    cluster.decide(new Command.FailInputs(cluster.ref(run, "a", 1), "no field x")).nothing();
  }

  @Test
  void shouldCancelTheOthersWhenInputsFailAndAFailureShall() {
    WorkerLife w = cluster.worker("w", 2);
    Run run = cluster.submit(Flow.of("a", "b").onFailure(OnFailure.CANCEL));
    cluster.assignAll();
    cluster
        .decide(new Command.FailInputs(cluster.ref(run, "a", 1), "no"))
        .effects(new Effect.SendCancel(w, cluster.name(run, "b", 1), "task a failed"));
  }

  @Test
  void shouldTimeOutAnAttemptThatItsWorkerDidNotEnd() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(2)));
    cluster.assignAll();
    var decided = cluster.decide(new Command.TimeOutAttempt(cluster.ref(run, "a", 1)));
    decided.effects(new Effect.SendCancel(w, cluster.name(run, "a", 1), "its time was over"));
    assertEquals(Outcome.TIMEOUT, decided.ended().outcome());
    assertFalse(decided.ended().isFinal());
    cluster.decide(new Command.TimeOutAttempt(cluster.ref(run, "a", 1))).nothing();
    cluster.advance(Duration.ofMinutes(1));
    cluster.assign().nothing();
    cluster.result(w, cluster.name(run, "a", 1), result(Outcome.CANCELLED)).events();
    cluster.assignAll();
    cluster.expect(run, "a", TaskStatus.RUNNING);
    assertTrue(
        cluster.decide(new Command.TimeOutAttempt(cluster.ref(run, "a", 2))).ended().isFinal());
    cluster.expect(run, "a", TaskStatus.TIMEOUT);
  }

  @Test
  void shouldCutALongReasonBetweenCharacters() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    String reason = "x".repeat(Limits.REASON_CHARS - 1) + "\uD83D\uDE00 and more";
    String kept =
        cluster
            .result(run, "a", 1, new Result(Outcome.FAILED, Output.NONE, reason, 1, false))
            .ended()
            .reason();
    assertEquals("x".repeat(Limits.REASON_CHARS - 1), kept);
  }
}
