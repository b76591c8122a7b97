package dev.baton.scheduler.engine;

import static dev.baton.scheduler.engine.EngineFixture.success;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Effect.SendAssign;
import dev.baton.scheduler.engine.Effect.SendCancel;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerRulesTest {
  private static final CallId CALL = new CallId(9);
  private static final Effect RECORDED =
      new Effect.Reply(CALL, new Effect.Answer.ServiceRecorded());
  private static final String WENT_ON = "the task went on without this attempt";

  private final EngineFixture cluster = new EngineFixture();
  private final WorkerLife w = cluster.worker("w", 4);

  @AfterEach
  void loadEqualsLive() {
    cluster.assertLoadEqualsLive();
  }

  // Service.

  private EngineFixture.Decided cordon(String worker, boolean drain, String incarnation) {
    return cluster.decide(new Command.Cordon(CALL, worker, drain, incarnation, "ann"));
  }

  private EngineFixture.Decided uncordon(String worker) {
    return cluster.decide(new Command.Uncordon(CALL, worker));
  }

  @Test
  void shouldGiveACordonedWorkerNothingNewAndLeaveItWhatItRuns() {
    Run run = cluster.submit(Flow.of("a", "b < a"));
    cluster.assignAll();
    cordon("w", false, "").events(new Event.WorkerCordoned("w", "", "ann")).effects(RECORDED);
    cluster.succeed(run, "a", 1).acked(Verdict.ACCEPTED);
    cluster.assign().nothing();
    uncordon("w").events(new Event.WorkerUncordoned("w")).effects(RECORDED);
    assertEquals(List.of("b"), cluster.assignedTasks());
  }

  @Test
  void shouldGiveWhatACordonedWorkerWouldGetToAnother() {
    cordon("w", false, "");
    WorkerLife other = cluster.worker("v", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    assertEquals(other, cluster.holder(run, "a"));
  }

  @Test
  void shouldKeepTheCordonOfAWorkerThatStartsAgainAndDrainOnlyTheProcessThatWasMeant() {
    cordon("w", true, "")
        .events(new Event.WorkerCordoned("w", w.incarnation(), "ann"))
        .effects(new Effect.SendDrain(w), RECORDED);
    assertTrue(cluster.state.cordons().drains(w));
    WorkerLife next = cluster.restarted(w, 4);
    assertFalse(cluster.state.cordons().drains(next));
    cluster.submit(Flow.of("a"));
    cluster.assign().nothing();
    // Asked again by a call that was repeated: the next process stays.
    cordon("w", true, w.incarnation()).events().effects(new Effect.SendDrain(w), RECORDED);
    assertFalse(cluster.state.cordons().drains(next));
    cordon("w", true, next.incarnation())
        .events(new Event.WorkerCordoned("w", next.incarnation(), "ann"))
        .effects(new Effect.SendDrain(next), RECORDED);
  }

  @Test
  void shouldDrainTheProcessThatWasNamedAlsoIfAnotherOneIsRegisteredStill() {
    cluster.fleet.unregister("w");
    WorkerLife registered = cluster.worker("w", 1);
    WorkerLife later = new WorkerLife("w", "w-later");
    cordon("w", true, later.incarnation())
        .events(new Event.WorkerCordoned("w", later.incarnation(), "ann"))
        .effects(new Effect.SendDrain(later), RECORDED);
    assertFalse(cluster.state.cordons().drains(registered));
  }

  @Test
  void shouldDoNothingTwice() {
    cordon("w", false, "");
    cordon("w", false, "").events().effects(RECORDED);
    uncordon("w");
    uncordon("w").events().effects(RECORDED);
  }

  @Test
  void shouldRefuseToChangeTheServiceOfAWorkerThatNobodyKnows() {
    cordon("x", false, "").refused(RefusalCode.WORKER_NOT_FOUND);
    uncordon("x").refused(RefusalCode.WORKER_NOT_FOUND);
  }

  @Test
  void shouldTakeBackACordonOfAWorkerThatIsGoneForGood() {
    cordon("w", true, "");
    cluster.fleet.streamClosed(w, cluster.now());
    cluster.fleet.unregister("w");
    cordon("w", true, "").events().effects(new Effect.SendDrain(w), RECORDED);
    uncordon("w").events(new Event.WorkerUncordoned("w"));
    uncordon("w").refused(RefusalCode.WORKER_NOT_FOUND);
  }

  @Test
  void shouldBoundTheNumberOfCordons() {
    for (int i = 0; i < Limits.MAX_CORDONS; i++) {
      cluster.worker("v" + i, 1);
      cordon("v" + i, false, "").effects(RECORDED);
    }
    cordon("w", false, "").refused(RefusalCode.TOO_LARGE);
    cordon("v0", true, "").events(new Event.WorkerCordoned("v0", "v0-1", "ann"));
  }

  // Inventory of the same life.

  @Test
  void shouldKeepWhatRuns() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.inventory(w, cluster.name(run, "a", 1)).events().effects();
  }

  @Test
  void shouldSendAMissingAttemptAgainAndNeverTheNext() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.inventory(w).events().effects(new SendAssign(w, cluster.ref(run, "a", 1)));
    cluster.inventory(w).events().effects(new SendAssign(w, cluster.ref(run, "a", 1)));
    assertEquals(1, cluster.task(run, "a").lastNumber());
    cluster.assign().nothing();
  }

  @Test
  void shouldSendACancelAgain() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    cluster.cancel(run);
    AttemptName a = cluster.name(run, "a", 1);
    AttemptName b = cluster.name(run, "b", 1);
    cluster
        .inventory(w, a)
        .events()
        .effects(new SendCancel(w, a, run.reason()), new SendCancel(w, b, run.reason()));
  }

  @Test
  void shouldWaitForAResultThatTheInventoryNames() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    AttemptName a = cluster.name(run, "a", 1);
    cluster.inventory(w, List.of(), List.of(a), List.of()).events().effects();
    cluster.result(w, a, success()).acked(Verdict.ACCEPTED);
  }

  @Test
  void shouldFreeTheSlotOfARecordedResultBeforeItSendsWhatIsMissing() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    AttemptName a = cluster.name(run, "a", 1);
    cluster.result(w, a, success()).acked(Verdict.ACCEPTED);
    cluster
        .inventory(w, List.of(), List.of(a), List.of())
        .events()
        .effects(
            new Effect.SendAck(w, a, Verdict.DUPLICATE),
            new SendAssign(w, cluster.ref(run, "b", 1)));
  }

  @Test
  void shouldTakeTheReturnsOfAnInventory() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    AttemptName a = cluster.name(run, "a", 1);
    var decided = cluster.inventory(w, List.of(cluster.name(run, "b", 1)), List.of(), List.of(a));
    assertEquals(Outcome.RETURNED, decided.ended().outcome());
    decided.effects(new Effect.SendAck(w, a, Verdict.ACCEPTED));
    cluster.expect(run, "a", TaskStatus.READY);
  }

  @Test
  void shouldSurviveAnInventoryThatNamesAnAttemptTwice() {
    Run run = cluster.submit(Flow.of("a", "b", "c"));
    cluster.assignAll();
    AttemptName a = cluster.name(run, "a", 1);
    AttemptName b = cluster.name(run, "b", 1);
    AttemptName c = cluster.name(run, "c", 1);
    cluster.lose(w);
    cluster.inventory(w, List.of(a, a, b), List.of(), List.of());
    cluster.inventory(w, List.of(b, b), List.of(b), List.of(a, a, b, c));
    cluster.expect(run, "a", TaskStatus.READY);
    cluster.expect(run, "b", TaskStatus.RUNNING);
    cluster.expect(run, "c", TaskStatus.READY);
  }

  // Adoption.

  @Test
  void shouldAdoptWhatAnOlderLifeWasRunning() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    WorkerLife next = cluster.restarted(w, 4);
    cluster
        .inventory(next, cluster.name(run, "a", 1))
        .events(
            new Event.WorkerNamed(2, next), new Event.AttemptAdopted(cluster.ref(run, "a", 1), 2))
        .effects();
    assertEquals(next, cluster.holder(run, "a"));
    assertEquals(0, cluster.state.workers().ref(w), "Nothing names the older life any more");
    cluster.inventory(next, cluster.name(run, "a", 1)).events().effects();
    cluster.succeed(run, "a", 1).acked(Verdict.ACCEPTED);
  }

  @Test
  void shouldNameANewLifeOnceWhenItAdoptsMuch() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    WorkerLife next = cluster.restarted(w, 4);
    cluster
        .inventory(next, cluster.name(run, "a", 1), cluster.name(run, "b", 1))
        .events(
            new Event.WorkerNamed(2, next),
            new Event.AttemptAdopted(cluster.ref(run, "a", 1), 2),
            new Event.AttemptAdopted(cluster.ref(run, "b", 1), 2));
  }

  @Test
  void shouldLoseWhatANewLifeLacks() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    WorkerLife next = cluster.restarted(w, 4);
    var decided = cluster.inventory(next, List.of(), List.of(cluster.name(run, "b", 1)), List.of());
    assertEquals(Outcome.LOST, decided.ended().outcome());
    assertEquals(cluster.ref(run, "a", 1), decided.ended().attempt());
    cluster.expect(run, "b", TaskStatus.RUNNING);
    assertEquals(2, cluster.assignAll().getFirst().attempt().attempt());
  }

  @Test
  void shouldAdoptALostAttemptAgain() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster
        .inventory(w, cluster.name(run, "a", 1))
        .events(new Event.AttemptAdopted(cluster.ref(run, "a", 1), 1))
        .effects();
    cluster.expect(run, "a", TaskStatus.RUNNING);
    assertEquals(0, cluster.state.ready().size());
    assertEquals(1, cluster.state.workers().runningCount(w));
  }

  @Test
  void shouldNotAdoptALostAttemptThatHasEnded() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster.lingering(w, cluster.name(run, "a", 1)).events().effects();
    assertEquals(1, cluster.fleet.used(w, cluster.state.workers()), "it fills a slot");
    cluster.expect(run, "a", TaskStatus.READY);
    assertEquals(2, cluster.assignAll().getFirst().attempt().attempt());
  }

  @Test
  void shouldCancelALostAttemptWhoseTaskWentOn() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster.fleet.unregister("w");
    WorkerLife v = cluster.worker("v", 4);
    cluster.assignAll();
    AttemptName first = cluster.name(run, "a", 1);
    cluster.inventory(w, first).events().effects(new SendCancel(w, first, WENT_ON));
    assertEquals(v, cluster.holder(run, "a"));
  }

  // What is not known to run there.

  @Test
  void shouldCancelForeignAttemptsAndCountThemAsUsedSlots() {
    AttemptName ghost = new AttemptName("01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", 1);
    AttemptName junk = new AttemptName("junk", "x", 1);
    cluster
        .inventory(w, ghost, junk)
        .events()
        .effects(new SendCancel(w, ghost, WENT_ON), new SendCancel(w, junk, WENT_ON));
    assertEquals(2, cluster.fleet.used(w, cluster.state.workers()));
    cluster.submit(Flow.wide(5));
    assertEquals(2, cluster.assignAll().size());
    cluster.decide(new Command.TakeCancelUnknown(w, ghost)).nothing();
    assertEquals(1, cluster.assignAll().size());
    cluster.result(w, junk, success()).acked(Verdict.UNKNOWN);
    assertEquals(1, cluster.assignAll().size());
    cluster.assign().nothing();
  }

  @Test
  void shouldCancelWhatAnotherWorkerRuns() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    WorkerLife v = cluster.worker("v", 1);
    AttemptName a = cluster.name(run, "a", 1);
    cluster.inventory(v, a).events().effects(new SendCancel(v, a, WENT_ON));
    assertEquals(w, cluster.holder(run, "a"));
  }

  @Test
  void shouldCancelWhatHasEnded() {
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.succeed(run, "a", 1);
    AttemptName a = cluster.name(run, "a", 1);
    cluster.inventory(w, a).events().effects(new SendCancel(w, a, WENT_ON));
  }

  // A life that another one has taken the place of.

  @Test
  void shouldNotLetAnOlderLifeSpeakForANewerOne() {
    WorkerLife next = cluster.restarted(w, 4);
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    assertEquals(next, cluster.holder(run, "a"));
    cluster.fleet.streamOpened(w, cluster.now());
    cluster.inventory(w).events().effects();
    cluster.inventory(w, cluster.name(run, "a", 1)).events();
    assertEquals(next, cluster.holder(run, "a"), "Not adopted by the older life");
    cluster.expect(run, "b", TaskStatus.RUNNING);
  }

  @Test
  void shouldNotLoseAnOlderLifesAttemptsBeforeTheNewOneIsRegistered() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    WorkerLife next = new WorkerLife("w", "w-2");
    cluster.fleet.streamOpened(next, cluster.now());
    cluster.inventory(next, cluster.name(run, "a", 1)).events().effects();
    cluster.register(next, 4, Flow.TYPE);
    cluster.inventory(next, cluster.name(run, "a", 1));
    assertEquals(next, cluster.holder(run, "a"));
    cluster.expect(run, "b", TaskStatus.READY);
  }

  @Test
  void shouldServeALifeWhoseKeyIsGone() {
    Run run = cluster.submit(Flow.of("a", "b"));
    cluster.assignAll();
    cluster.fleet.unregister("w");
    cluster
        .inventory(w, cluster.name(run, "a", 1))
        .events()
        .effects(new SendAssign(w, cluster.ref(run, "b", 1)));
    cluster.lose(w);
    cluster.inventory(w, cluster.name(run, "a", 1), cluster.name(run, "b", 1));
    cluster.expect(run, "a", TaskStatus.RUNNING);
    cluster.expect(run, "b", TaskStatus.RUNNING);
  }

  // Loss.

  @Test
  void shouldLoseManyAttemptsInSlices() {
    WorkerLife big = cluster.worker("big", 5_000, "big");
    Run run = cluster.submit(Flow.wide(5_000).type("big"));
    cluster.assignAll();
    int left = 5_000;
    while (left > 0) {
      int lost = cluster.lose(big).decision().events().size();
      assertEquals(Math.min(Limits.LOSS_SLICE, left), lost);
      left -= lost;
      assertEquals(left, cluster.state.workers().runningCount(big));
    }
    cluster.lose(big).nothing();
    assertEquals(5_000, run.count(TaskStatus.READY));
  }

  @Test
  void shouldLoseManyAttemptsOfAnOlderLifeInSlices() {
    WorkerLife big = cluster.worker("big", 1_000, "big");
    cluster.submit(Flow.wide(1_000).type("big"));
    cluster.assignAll();
    WorkerLife next = cluster.restarted(big, 1_000);
    assertEquals(Limits.LOSS_SLICE, cluster.inventory(next).decision().events().size());
    assertEquals(1_000 - Limits.LOSS_SLICE, cluster.state.workers().runningCount(big));
  }

  @Test
  void shouldStopARunOnceWhenASliceOfItIsLostForGood() {
    RetryPolicy none =
        new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1), Set.of(), 0);
    cluster.fleet.unregister("w");
    WorkerLife big = cluster.worker("big", 600);
    Run run = cluster.submit(Flow.wide(900).retry(none).onFailure(OnFailure.CANCEL));
    cluster.assignAll();
    WorkerLife other = cluster.worker("other", 300);
    cluster.assignAll();
    int cancels = cluster.lose(big).all(SendCancel.class).size();
    assertTrue(cancels < 900, () -> cancels + " cancels in one decision");
    assertEquals(RunStatus.FAILED, run.stopping());
    cluster.lose(big);
    cluster.lose(big);
    assertEquals(0, cluster.state.workers().runningCount(big));
    assertEquals(1, run.count(TaskStatus.FAILED));
    assertEquals(599, run.count(TaskStatus.CANCELLED));
    cluster.lose(other);
    cluster.lose(other);
    assertEquals(RunStatus.FAILED, run.status());
  }

  @Test
  void shouldNotTryAgainWhatIsLostWithTheTaskThatStopsItsRun() {
    RetryPolicy none =
        new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1), Set.of(), 0);
    Flow flow = Flow.of("a", "b", "c").onFailure(OnFailure.CANCEL);
    Run run =
        cluster.submit(
            flow.map(t -> t.id().equals("b") ? Flow.task(t, t.type(), none, t.priority()) : t));
    cluster.assignAll();
    cluster.lose(w);
    cluster.expect(run, "b", TaskStatus.FAILED);
    cluster.expect(run, "c", TaskStatus.CANCELLED);
    cluster.expect(run, "a", TaskStatus.CANCELLED);
    assertEquals(RunStatus.FAILED, run.status());
  }

  @Test
  void shouldServeALostWorkerThatComesBack() {
    Run run = cluster.submit(Flow.of("a", "b", "c"));
    cluster.assignAll();
    cluster.lose(w);
    AttemptName a = cluster.name(run, "a", 1);
    AttemptName b = cluster.name(run, "b", 1);
    cluster.inventory(w, List.of(a), List.of(b), List.of());
    cluster.result(w, b, success()).acked(Verdict.ACCEPTED);
    cluster.expect(run, "a", TaskStatus.RUNNING);
    cluster.expect(run, "b", TaskStatus.SUCCESS);
    cluster.expect(run, "c", TaskStatus.READY);
  }

  // Numbers of lives.

  @Test
  void shouldForgetALifeThatNothingNamesAndNeverReuseItsNumber() {
    Run run = cluster.submit(Flow.of("a"));
    Run other = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.succeed(run, "a", 1);
    cluster.succeed(other, "a", 1);
    cluster.retire(run);
    assertEquals(1, cluster.state.workers().ref(w), "A live run still names it");
    cluster.retire(other);
    assertEquals(0, cluster.state.workers().ref(w));
    cluster.submit(Flow.of("a"));
    cluster.assignAll();
    assertEquals(2, cluster.state.workers().ref(w));
  }
}
