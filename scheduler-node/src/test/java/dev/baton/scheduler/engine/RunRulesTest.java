package dev.baton.scheduler.engine;

import static dev.baton.scheduler.engine.EngineFixture.success;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.engine.EngineFixture.Submission;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.OnFailure;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RunRulesTest {
  private static final Flow DIAMOND = Flow.of("a", "b < a", "c < a", "d < b c");

  private final EngineFixture cluster = new EngineFixture();

  @AfterEach
  void loadEqualsLive() {
    cluster.assertLoadEqualsLive();
  }

  // Submit.

  @Test
  void shouldCreateARunAndItsDefinitionInOneEntry() {
    Submission first = cluster.submission(DIAMOND);
    List<Event> events = cluster.submit(first).decision().events();
    long number = cluster.seq() << 16;
    assertEquals(new Event.SpecAdded(number, DIAMOND.hash()), events.getFirst());
    assertEquals(number + 1, cluster.run(first.id()).number());
    assertEquals(2, events.size());
    cluster.expect(cluster.run(first.id()), "a", TaskStatus.READY);
    cluster.expect(cluster.run(first.id()), "b", TaskStatus.PENDING);
  }

  @Test
  void shouldAddADefinitionOnceOnly() {
    cluster.submit(DIAMOND);
    Submission second = cluster.submission(DIAMOND);
    assertEquals(1, cluster.sameEntry().submit(second).decision().events().size());
    assertEquals((cluster.seq() << 16) + 2, cluster.run(second.id()).number());
  }

  @Test
  void shouldAnswerARepeatedIdWithTheSameRun() {
    Submission submission = cluster.submission(DIAMOND);
    cluster.submit(submission);
    Answer.Submitted again = cluster.submit(submission).events().answer(Answer.Submitted.class);
    assertEquals(new Answer.Submitted(submission.id(), true, List.of()), again);
  }

  @Test
  void shouldAnswerARepeatedIdOfARunThatHasRetired() {
    cluster.worker("w", 4);
    Submission submission = cluster.submission(DIAMOND);
    cluster.submit(submission);
    cluster.finishAndRetire(cluster.run(submission.id()));
    Answer.Submitted again = cluster.submit(submission).events().answer(Answer.Submitted.class);
    assertEquals(new Answer.Submitted(submission.id(), true, List.of()), again);
    cluster.submit(submission.body(2)).refused(RefusalCode.KEY_CONFLICT);
  }

  @Test
  void shouldRefuseARepeatedIdWithAnotherBody() {
    Submission submission = cluster.submission(DIAMOND);
    cluster.submit(submission);
    cluster.submit(submission.body(2)).refused(RefusalCode.KEY_CONFLICT);
  }

  @Test
  void shouldAnswerAKnownKeyWithTheFirstRun() {
    Submission first = cluster.submission(DIAMOND).key("k");
    cluster.submit(first);
    Submission second = cluster.submission(DIAMOND).key("k");
    assertNotEquals(first.id(), second.id());
    assertEquals(first.id(), cluster.submit(second).events().answer(Answer.Submitted.class).id());
    cluster.submit(second.body(2)).refused(RefusalCode.KEY_CONFLICT);
  }

  @Test
  void shouldAnswerTheKeyOfARetiredRunWithItsPlaceInTheHistory() {
    cluster.worker("w", 4);
    Submission first = cluster.submission(DIAMOND).key("k");
    cluster.submit(first);
    cluster.finishAndRetire(cluster.run(first.id()));
    Submission second = cluster.submission(DIAMOND).key("k");
    long retiredIn = cluster.seq();
    assertEquals(
        new Answer.SubmittedBefore(retiredIn, EngineFixture.TENANT, "k"),
        cluster.submit(second).events().answer(Answer.SubmittedBefore.class));
    cluster.submit(second.body(2)).refused(RefusalCode.KEY_CONFLICT);
  }

  @Test
  void shouldKeepTheKeysOfTenantsApart() {
    cluster.worker("w", 4);
    Submission first = cluster.submission(DIAMOND).key("k");
    cluster.submit(first);
    Submission other = cluster.submission(DIAMOND).key("k").tenant("t").body(2);
    assertFalse(cluster.submit(other).answer(Answer.Submitted.class).existing());
    cluster.finishAndRetire(cluster.run(first.id()));
    cluster.finishAndRetire(cluster.run(other.id()));
    Submission third = cluster.submission(DIAMOND).key("k").tenant("u");
    assertFalse(cluster.submit(third).answer(Answer.Submitted.class).existing());
  }

  @Test
  void shouldForgetAKeyWithTheHistory() {
    cluster.worker("w", 4);
    Submission first = cluster.submission(DIAMOND).key("k");
    cluster.submit(first);
    cluster.finishAndRetire(cluster.run(first.id()));
    cluster.decide(new Command.DropHistory(cluster.seq()));
    Submission second = cluster.submission(DIAMOND).key("k").body(2);
    assertFalse(cluster.submit(second).answer(Answer.Submitted.class).existing());
    assertFalse(
        cluster.submit(first.key("")).answer(Answer.Submitted.class).existing(),
        "The id is free again as well");
  }

  @Test
  void shouldRefuseWhenAWorkerIsRequiredAndNoneOffersAType() {
    cluster.worker("w", 1, "*");
    Flow flow = Flow.of("a", "b", "c").type("b", "shell");
    cluster.submit(cluster.submission(flow).requiringWorkers()).refused(RefusalCode.NO_WORKER);
    cluster.worker("v", 1, "shell");
    assertFalse(
        cluster
            .submit(cluster.submission(flow).requiringWorkers())
            .answer(Answer.Submitted.class)
            .existing());
  }

  @Test
  void shouldWarnOfTypesThatNobodyOffers() {
    Flow flow = Flow.of("a", "b", "c").type("a", "zip").type("b", "shell");
    Answer.Submitted answer =
        cluster.submit(cluster.submission(flow)).answer(Answer.Submitted.class);
    assertEquals(3, answer.warnings().size());
    assertTrue(answer.warnings().getFirst().contains("echo"), answer.toString());
  }

  // Cancel.

  @Test
  void shouldCancelWhatHasNotStartedAtOnce() {
    Run run = cluster.submit(DIAMOND);
    assertEquals(
        RunStatus.CANCELLED, cluster.cancel(run).answer(Answer.CancelRecorded.class).status());
    assertEquals(RunStatus.CANCELLED, run.status());
    assertEquals("cancelled by bob: not needed", run.reason());
    assertEquals(4, run.count(TaskStatus.CANCELLED));
    cluster.worker("w", 4);
    cluster.assign().nothing();
  }

  @Test
  void shouldTellTheWorkersOfRunningTasksToStop() {
    WorkerLife w = cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a", "b", "c < a"));
    cluster.assign();
    var decided = cluster.cancel(run);
    assertEquals(RunStatus.RUNNING, decided.answer(Answer.CancelRecorded.class).status());
    assertEquals(
        List.of(new Effect.SendCancel(w, cluster.name(run, "a", 1), "the run was cancelled")),
        decided.all(Effect.SendCancel.class));
    assertEquals(RunStatus.RUNNING, run.status());
    cluster.expect(run, "a", TaskStatus.RUNNING);
    cluster.expect(run, "b", TaskStatus.CANCELLED);
    cluster.expect(run, "c", TaskStatus.CANCELLED);
    cluster.result(run, "a", 1, EngineFixture.result(Outcome.CANCELLED)).acked(Verdict.ACCEPTED);
    assertEquals(RunStatus.CANCELLED, run.status());
  }

  @Test
  void shouldRecordASuccessAfterACancelAndStartNothing() {
    cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a", "b < a"));
    cluster.assignAll();
    cluster.cancel(run);
    cluster.succeed(run, "a", 1).acked(Verdict.ACCEPTED);
    cluster.expect(run, "a", TaskStatus.SUCCESS);
    cluster.expect(run, "b", TaskStatus.CANCELLED);
    assertEquals(RunStatus.CANCELLED, run.status());
    cluster.assign().nothing();
  }

  @Test
  void shouldNotRetryAFailureAfterACancel() {
    cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(3)));
    cluster.assignAll();
    cluster.cancel(run);
    assertTrue(cluster.fail(run, "a", 1).ended().isFinal());
    cluster.expect(run, "a", TaskStatus.FAILED);
    assertEquals(RunStatus.CANCELLED, run.status());
  }

  @Test
  void shouldCancelATaskThatWaitsForItsRetry() {
    cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a").retry(Flow.attempts(3)));
    cluster.assignAll();
    cluster.fail(run, "a", 1);
    cluster.cancel(run);
    assertEquals(RunStatus.CANCELLED, run.status());
    assertEquals(0, cluster.task(run, "a").retryAt());
    assertEquals(Long.MAX_VALUE, cluster.state.ready().nextDue());
    cluster.advance(Duration.ofMinutes(5)).assign().nothing();
  }

  @Test
  void shouldCancelATaskWhoseRetryHasComeDue() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a", "b").retry(Flow.attempts(3)));
    cluster.assignAll();
    cluster.fail(run, "a", 1);
    cluster.assignAll();
    cluster.advance(Duration.ofMinutes(5)).assign().nothing();
    cluster.cancel(run);
    cluster.expect(run, "a", TaskStatus.CANCELLED);
    assertEquals(0, cluster.state.ready().size());
  }

  @Test
  void shouldCancelATaskWhoseAttemptWasLost() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.lose(w);
    cluster.cancel(run);
    assertEquals(RunStatus.CANCELLED, run.status());
    cluster.result(w, cluster.name(run, "a", 1), success()).acked(Verdict.STALE).events();
  }

  @Test
  void shouldEndACancelledAttemptWithItsWorker() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.cancel(run);
    assertTrue(cluster.lose(w).ended().isFinal());
    cluster.expect(run, "a", TaskStatus.CANCELLED);
    assertEquals(RunStatus.CANCELLED, run.status());
  }

  @Test
  void shouldAnswerARepeatedCancel() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.cancel(run);
    assertEquals(
        RunStatus.RUNNING,
        cluster.cancel(run).events().answer(Answer.CancelRecorded.class).status());
    cluster.succeed(run, "a", 1);
    assertEquals(
        RunStatus.CANCELLED,
        cluster.cancel(run).events().answer(Answer.CancelRecorded.class).status());
  }

  @Test
  void shouldNotCancelWhatHasEnded() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.succeed(run, "a", 1);
    assertEquals(
        RunStatus.SUCCESS,
        cluster.cancel(run).events().answer(Answer.CancelRecorded.class).status());
    cluster.retire(run);
    cluster.cancel(run).refused(RefusalCode.RUN_NOT_FOUND);
    cluster
        .decide(new Command.Cancel(new Command.CallId(1), new RunId(0, 0), "", ""))
        .refused(RefusalCode.RUN_NOT_FOUND);
  }

  // The time of a whole run.

  @Test
  void shouldStopARunWhoseTimeIsOver() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(DIAMOND.timeout(Duration.ofMinutes(1)));
    cluster.assignAll();
    assertEquals(cluster.now() + 60_000, cluster.state.nextDeadline());
    assertEquals(run.number(), cluster.state.nextDeadlineRun());
    cluster.advance(Duration.ofMinutes(1));
    cluster
        .decide(new Command.TimeOutRun(run.number()))
        .events(new Event.RunTimedOut(run.number()))
        .effects(
            new Effect.SendCancel(w, cluster.name(run, "a", 1), "the time of the run was over"));
    assertEquals(Long.MAX_VALUE, cluster.state.nextDeadline());
    assertEquals(RunStatus.RUNNING, run.status());
    cluster.decide(new Command.TimeOutRun(run.number())).nothing();
    assertEquals(
        RunStatus.RUNNING,
        cluster.cancel(run).events().answer(Answer.CancelRecorded.class).status());
    cluster.result(run, "a", 1, EngineFixture.result(Outcome.CANCELLED));
    assertEquals(RunStatus.TIMEOUT, run.status());
  }

  @Test
  void shouldForgetTheTimeOfARunThatHasEnded() {
    cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a").timeout(Duration.ofMinutes(1)));
    Run later = cluster.submit(Flow.of("a").timeout(Duration.ofMinutes(2)));
    cluster.assignAll();
    cluster.succeed(run, "a", 1);
    assertEquals(later.number(), cluster.state.nextDeadlineRun());
    cluster.decide(new Command.TimeOutRun(run.number())).nothing();
    cluster.decide(new Command.TimeOutRun(12345)).nothing();
  }

  // Failure.

  @Test
  void shouldSkipEverythingBehindAFailureAndRunTheRest() {
    cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a", "b < a", "c < a", "d < b c", "x", "y < x", "z < d y"));
    cluster.assignAll();
    cluster.fail(run, "a", 1);
    for (String skipped : List.of("b", "c", "d", "z")) {
      cluster.expect(run, skipped, TaskStatus.SKIPPED);
    }
    assertEquals(RunStatus.RUNNING, run.status());
    cluster.succeed(run, "x", 1);
    cluster.assignAll();
    cluster.succeed(run, "y", 1);
    assertEquals(RunStatus.FAILED, run.status());
    assertEquals("task a: broken", run.reason());
  }

  @Test
  void shouldSkipALongChainInOneEvent() {
    cluster.worker("w", 4);
    Run run = cluster.submit(Flow.chain(10_000));
    cluster.assignAll();
    assertEquals(1, cluster.fail(run, "t0", 1).decision().events().size());
    assertEquals(9_999, run.count(TaskStatus.SKIPPED));
    assertEquals(RunStatus.FAILED, run.status());
  }

  @Test
  void shouldCancelEverythingElseIfAFailureShall() {
    WorkerLife w = cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a", "x", "y < x", "z", "b < a").onFailure(OnFailure.CANCEL));
    cluster.assign();
    cluster.assign();
    var decided = cluster.fail(run, "a", 1).acked(Verdict.ACCEPTED);
    assertEquals(
        List.of(new Effect.SendCancel(w, cluster.name(run, "x", 1), "task a failed")),
        decided.all(Effect.SendCancel.class));
    cluster.expect(run, "a", TaskStatus.FAILED);
    cluster.expect(run, "y", TaskStatus.CANCELLED);
    cluster.expect(run, "z", TaskStatus.CANCELLED);
    cluster.expect(run, "b", TaskStatus.CANCELLED);
    assertEquals(RunStatus.RUNNING, run.status());
    assertEquals(RunStatus.FAILED, run.stopping());
    cluster.result(run, "x", 1, EngineFixture.result(Outcome.CANCELLED));
    assertEquals(RunStatus.FAILED, run.status());
    assertEquals("task a: broken", run.reason());
  }

  @Test
  void shouldNotCancelAnythingForAFailureThatIsTriedAgain() {
    cluster.worker("w", 4);
    Run run = cluster.submit(Flow.of("a", "x").onFailure(OnFailure.CANCEL).retry(Flow.attempts(2)));
    cluster.assignAll();
    assertEquals(List.of(), cluster.fail(run, "a", 1).all(Effect.SendCancel.class));
    cluster.expect(run, "x", TaskStatus.RUNNING);
  }

  // Leaving.

  @Test
  void shouldRetireARunThatHasEndedAndNoOther() {
    cluster.worker("w", 4);
    Run run = cluster.submit(DIAMOND);
    cluster.retire(run).nothing();
    cluster.finishAndRetire(run);
    assertNull(cluster.state.run(run.id()));
    assertEquals(0, cluster.state.liveTasks());
    assertEquals(0, cluster.state.ended().size());
    cluster.retire(run).nothing();
    assertEquals(cluster.seq() - 1, historySeq(run));
  }

  private long historySeq(Run run) {
    Retained.Row row = cluster.state.retained().find(run.id());
    assertNotNull(row);
    return row.historySeq();
  }

  @Test
  void shouldDropADefinitionThatNobodyUses() {
    cluster.worker("w", 4);
    Run run = cluster.submit(DIAMOND);
    long spec = run.spec().number();
    cluster.decide(new Command.DropSpec(spec)).nothing();
    cluster.finishAndRetire(run);
    cluster.decide(new Command.DropSpec(spec)).events(new Event.SpecDropped(spec));
    assertNull(cluster.state.spec(DIAMOND.hash()));
    assertFalse(cluster.definitions.contains(spec));
    cluster.decide(new Command.DropSpec(spec)).nothing();
    assertNotEquals(
        spec, cluster.submit(DIAMOND).spec().number(), "The same content gets a new number");
  }

  @Test
  void shouldOnlyGoForwardWithHistoryAndSnapshots() {
    cluster.decide(new Command.InstallSnapshot(50)).events(new Event.SnapshotInstalled(50));
    cluster.decide(new Command.InstallSnapshot(50)).nothing();
    cluster.decide(new Command.InstallSnapshot(49)).nothing();
    cluster.decide(new Command.DropHistory(20)).events(new Event.HistoryDropped(20));
    cluster.decide(new Command.DropHistory(20)).nothing();
    cluster.decide(new Command.DropHistory(19)).nothing();
    cluster.decide(new Command.OpenTerm("n1")).events(new Event.TermOpened("n1"));
  }
}
