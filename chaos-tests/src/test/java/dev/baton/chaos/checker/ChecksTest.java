package dev.baton.chaos.checker;

import static dev.baton.chaos.checker.Script.at;
import static dev.baton.chaos.checker.Script.attempt;
import static dev.baton.chaos.checker.Script.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.AttemptRead;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.history.Observation.HeadWritten;
import dev.baton.chaos.history.Observation.Injected;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.PlannedTask;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.Stalled;
import dev.baton.chaos.history.Observation.TaskRead;
import dev.baton.chaos.history.Observation.WatchBroken;
import dev.baton.chaos.history.Observation.Witnessed;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Each check on histories made by hand: one that keeps its promise, and each way to break it. */
class ChecksTest {
  private static final AttemptRead FIRST = attempt(1, "w1", "SUCCESS");
  private static final AttemptRead LOST = attempt(1, "w1", "LOST");
  private static final AttemptRead SECOND = attempt(2, "w2", "SUCCESS");

  private static Finding valid(Check check, History history) {
    Finding finding = check.judge(history);
    assertEquals(Outcome.VALID, finding.outcome(), finding.evidence().toString());
    assertEquals(List.of(), finding.evidence());
    return finding;
  }

  private static void unknown(Check check, History history, String part) {
    Finding finding = check.judge(history);
    assertEquals(Outcome.UNKNOWN, finding.outcome(), finding.evidence().toString());
    assertContains(finding, part);
  }

  private static void invalid(Check check, History history, String part) {
    Finding finding = check.judge(history);
    assertEquals(Outcome.INVALID, finding.outcome());
    assertEquals(1, finding.violations(), finding.evidence().toString());
    assertContains(finding, part);
  }

  private static void assertContains(Finding finding, String part) {
    assertTrue(finding.evidence().getFirst().contains(part), finding.evidence().toString());
  }

  // An acknowledged run is there.

  @Test
  void shouldFindCommittedRunsThere() {
    Script script =
        new Script()
            .committed(10, "r", "a")
            .read(50, "r", true, RunRead.SUCCESS, succeeded("a", FIRST))
            .plan(11, "refused", "", "a")
            .submit(11, "refused", Result.FAIL, "")
            .read(50, "refused", true, RunRead.NOT_FOUND)
            .plan(12, "unknown", "", "a")
            .submit(12, "unknown", Result.UNKNOWN, "")
            .read(50, "unknown", true, RunRead.NOT_FOUND);
    assertEquals(1, valid(new CommittedRuns(), script.end(60)).looked());
  }

  @Test
  void shouldFindALostRun() {
    Script script = new Script().committed(10, "r", "a").read(50, "r", true, RunRead.NOT_FOUND);
    invalid(new CommittedRuns(), script.end(60), "run r was acknowledged at 0.011 s");
  }

  @Test
  void shouldNotJudgeARunThatCouldNotBeRead() {
    unknown(new CommittedRuns(), new Script().committed(10, "r", "a").end(60), "run r could not");
  }

  @Test
  void shouldFindTwoRunsUnderOneKey() {
    Script script =
        new Script()
            .plan(10, "r", "k", "a")
            .plan(10, "s", "k", "a")
            .submit(10, "r", Result.OK, "r")
            .submit(11, "s", Result.OK, "r")
            .read(50, "r", true, RunRead.SUCCESS)
            .read(50, "s", true, RunRead.NOT_FOUND);
    valid(new CommittedRuns(), script.end(60));
    script.submit(12, "s", Result.OK, "s").read(70, "s", true, RunRead.SUCCESS);
    invalid(new CommittedRuns(), script.end(80), "key k was acknowledged as the runs r and s");
  }

  // A task has one accepted result.

  private static Script ended(TaskRead task) {
    return new Script().committed(10, "r", "a").read(50, "r", true, RunRead.SUCCESS, task);
  }

  @Test
  void shouldAcceptAResultThatAHandlerProduced() {
    Script script = ended(succeeded("a", FIRST)).ran("w1", "r", "a", 1, 20, 30);
    assertEquals(1, valid(new AcceptedResults(), script.end(60)).looked());
  }

  @Test
  void shouldFindTwoAcceptedResults() {
    Script script =
        ended(succeeded("a", FIRST, SECOND))
            .ran("w1", "r", "a", 1, 20, 30)
            .ran("w2", "r", "a", 2, 30, 40);
    History history = script.end(60);
    invalid(new AcceptedResults(), history, "has 2 accepted results");
    assertEquals(1, AcceptedResults.duplicates(history));
  }

  @Test
  void shouldFindAResultThatNoHandlerProduced() {
    Script script = ended(succeeded("a", FIRST));
    invalid(new AcceptedResults(), script.end(60), "no worker started it");
    // A worker that was killed meanwhile takes the last lines of its trace with it.
    valid(new AcceptedResults(), ended(succeeded("a", FIRST)).killed(40, "w1").end(60));
    invalid(
        new AcceptedResults(), ended(succeeded("a", FIRST)).killed(5, "w1").end(60), "no worker");
  }

  @Test
  void shouldFindAnOutputThatNoHandlerCanGive() {
    TaskRead task = new TaskRead("a", "TASK_SUCCESS", List.of(FIRST), "{\"is\":\"b\"}", 1);
    Script script = ended(task).ran("w1", "r", "a", 1, 20, 30);
    invalid(new AcceptedResults(), script.end(60), "its handler can only give {\"is\":\"a\"}");
  }

  @Test
  void shouldHoldTheOutputOfACommandAgainstItsOwnFile() {
    Script script =
        new Script()
            .add(
                new Planned(
                    at(10), "r", "", "s", List.of(new PlannedTask("a", "shell", List.of(), ""))))
            .ran("w1", "r", "a", 1, 20, 30)
            .read(
                50,
                "r",
                true,
                RunRead.SUCCESS,
                new TaskRead("a", "TASK_SUCCESS", List.of(FIRST), "{\"stdout\":\"w7\\n\"}", 1))
            .add(new Witnessed(at(55), "r", "a", 2, "w7"));
    invalid(new AcceptedResults(), script.end(60), "is 'w7', but the command told []");
    valid(new AcceptedResults(), script.add(new Witnessed(at(56), "r", "a", 1, "w7")).end(60));
  }

  @Test
  void shouldFindAResultThatChanges() {
    Script script =
        new Script()
            .committed(10, "r", "a")
            .ran("w1", "r", "a", 1, 20, 30)
            .ran("w2", "r", "a", 2, 31, 40)
            .read(45, "r", false, RunRead.SUCCESS, succeeded("a", FIRST))
            .read(50, "r", true, RunRead.SUCCESS, succeeded("a", LOST, SECOND));
    invalid(new AcceptedResults(), script.end(60), "was read otherwise later");
  }

  // Real order.

  @Test
  void shouldFindATaskThatStartedTooEarly() {
    Script good =
        new Script()
            .committed(10, "r", "a", "b<a")
            .ran("w1", "r", "a", 1, 20, 30)
            .ran("w2", "r", "b", 1, 30, 40);
    assertEquals(1, valid(new DagOrder(), good.end(60)).looked());
    Script early =
        new Script()
            .committed(10, "r", "a", "b<a")
            .ran("w1", "r", "a", 1, 20, 30)
            .ran("w2", "r", "b", 1, 29, 40);
    invalid(new DagOrder(), early.end(60), "r/b started at 0.029 s on w2, but a");
    Script orphan = new Script().committed(10, "r", "a", "b<a").ran("w2", "r", "b", 1, 29, 40);
    invalid(new DagOrder(), orphan.end(60), "had not ended");
  }

  // Never two at once.

  @Test
  void shouldFindTwoAttemptsAtOnce() {
    Script after =
        ended(succeeded("a", LOST, SECOND))
            .ran("w1", "r", "a", 1, 20, -1)
            .killed(25, "w1")
            .ran("w2", "r", "a", 2, 26, 30);
    valid(new NeverTwoAtOnce(), after.end(60));
    Script lost =
        ended(succeeded("a", LOST, SECOND))
            .ran("w1", "r", "a", 1, 20, 40)
            .ran("w2", "r", "a", 2, 26, 30);
    valid(new NeverTwoAtOnce(), lost.end(60));
    Script both =
        ended(succeeded("a", attempt(1, "w1", "FAILED"), SECOND))
            .ran("w1", "r", "a", 1, 20, 40)
            .ran("w2", "r", "a", 2, 26, 30);
    invalid(new NeverTwoAtOnce(), both.end(60), "but the first ended as ATTEMPT_FAILED");
    Script twice =
        ended(succeeded("a", FIRST)).ran("w1", "r", "a", 1, 20, 40).ran("w2", "r", "a", 1, 26, 30);
    invalid(new NeverTwoAtOnce(), twice.end(60), "the same attempt twice");
    Script unread =
        new Script()
            .committed(10, "r", "a")
            .ran("w1", "r", "a", 1, 20, 40)
            .ran("w2", "r", "a", 2, 26, 30);
    unknown(new NeverTwoAtOnce(), unread.end(60), "the run could not be read");
  }

  // One writer.

  private static Script twoTerms() {
    return new Script()
        .leader(1, 100, "s1")
        .entry(2, 101, 1, 100)
        .leader(3, 102, "")
        .leader(4, 103, "s2")
        .entry(5, 104, 2, 103);
  }

  @Test
  void shouldAcceptOneWriterPerTerm() {
    Script script = twoTerms().add(new HeadWritten(at(6), 105, 2, 103));
    assertEquals(3, valid(new Writers(), script.end(60)).looked());
  }

  @Test
  void shouldFindAWriteOfAnOldTerm() {
    invalid(
        new Writers(),
        twoTerms().entry(6, 105, 3, 100).end(60),
        "entry 3 was written at revision 105 in term 100, when s2 led in term 103");
    invalid(
        new Writers(),
        twoTerms().add(new HeadWritten(at(6), 105, 2, 100)).end(60),
        "head 2 was written");
    invalid(
        new Writers(), twoTerms().leader(6, 105, "").entry(7, 106, 3, 103).end(60), "nobody led");
  }

  @Test
  void shouldFindGapsRewritesAndTermsThatFall() {
    invalid(new Writers(), twoTerms().entry(6, 105, 4, 103).end(60), "entry 4 follows entry 2");
    invalid(new Writers(), twoTerms().entry(6, 105, 2, 103).end(60), "entry 2 was written twice");
    Finding fell = new Writers().judge(twoTerms().leader(6, 99, "s3").end(60));
    assertEquals(Outcome.INVALID, fell.outcome());
    assertContains(fell, "term 99 came after 103");
  }

  @Test
  void shouldNotJudgeWritersThatWereNotSeen() {
    unknown(new Writers(), new Script().end(60), "no leader was seen");
    unknown(
        new Writers(), twoTerms().add(new WatchBroken(at(7), true, "compacted")).end(60), "missed");
    valid(new Writers(), twoTerms().add(new WatchBroken(at(7), false, "unavailable")).end(60));
  }

  // Fail-over in time.

  private static Script failover(long receivedMillis) {
    Script script = twoTerms().inject(1000, 1, "s1", 100, 500);
    return receivedMillis == 0 ? script : script.received(receivedMillis, 2, 103);
  }

  @Test
  void shouldMeasureAFailover() {
    // A repeat of an older assignment in the new term does not count.
    History history = failover(1400).received(1100, 1, 103).end(5000);
    valid(new FailoverBounds(), history);
    assertEquals(400, FailoverTimes.of(history).getFirst().millis());
    assertEquals("s2", FailoverTimes.of(history).getFirst().leader());
  }

  @Test
  void shouldFindAFailoverThatTookTooLong() {
    invalid(new FailoverBounds(), failover(1600).end(5000), "after 0.600 s, its bound is 0.500 s");
    invalid(new FailoverBounds(), failover(0).end(5000), "nothing was assigned afterwards");
  }

  @Test
  void shouldNotBlameAMachineThatStoodStill() {
    unknown(
        new FailoverBounds(),
        failover(1600).add(new Stalled(at(1300), 200)).end(5000),
        "the machine stood still");
    unknown(new FailoverBounds(), failover(0).end(1200), "the history ends before its bound");
  }

  @Test
  void shouldMeasureFromTheHealingWhereNobodyCanLead() {
    Script script =
        new Script()
            .leader(1, 100, "s1")
            .entry(2, 101, 1, 100)
            .add(new Injected(at(10), 1, "quorum", List.of("e1"), 100, Failover.FROM_HEALING, 1000))
            .received(11, 1, 100)
            .heal(5000, 1)
            .received(5300, 1, 100);
    assertEquals(300, FailoverTimes.of(script.end(9000)).getFirst().millis());
  }

  // Slots.

  @Test
  void shouldFindTooManyHandlersAtOnce() {
    Script script =
        new Script()
            .ran("w1", "r", "a", 1, 20, 40)
            .ran("w1", "r", "b", 1, 25, 30)
            .ran("w1", "r", "c", 1, 30, 35)
            .ran("w2", "r", "d", 1, 25, 30);
    valid(new Slots(), script.end(60));
    script.ran("w1", "r", "e", 1, 34, 36);
    invalid(new Slots(), script.end(60), "w1 ran 3 handlers at 0.034 s and has 2 slots");
  }

  // Runs end.

  @Test
  void shouldFindARunThatEndsTooLate() {
    Script inTime =
        new Script()
            .committed(0, "r", "a")
            .inject(1000, 1, "w1", 0, 0)
            .heal(31_000, 1)
            .read(89_000, "r", true, RunRead.SUCCESS, succeeded("a", FIRST));
    valid(new RunsEnd(), inTime.end(100_000));
    Script late =
        new Script()
            .committed(0, "r", "a")
            .inject(1000, 1, "w1", 0, 0)
            .heal(31_000, 1)
            .read(92_000, "r", true, RunRead.SUCCESS, succeeded("a", FIRST));
    invalid(new RunsEnd(), late.end(100_000), "ended only after 62.000 s without faults");
    Script never = new Script().committed(0, "r", "a").read(61_000, "r", true, RunRead.RUNNING);
    invalid(new RunsEnd(), never.end(61_000), "had not ended after 61.000 s");
    Script open = new Script().committed(0, "r", "a").read(59_000, "r", true, RunRead.RUNNING);
    unknown(new RunsEnd(), open.end(59_000), "when the history ends");
  }

  @Test
  void shouldNotCountTheTimeInWhichNobodyFollowedARun() {
    valid(new RunsEnd(), unheardOf(30_000).end(600_000));
    invalid(new RunsEnd(), unheardOf(70_000).end(600_000), "ended only after 71.000 s");
  }

  /** Nobody knows of the run until it is read at the end; its one handler runs for a second. */
  private static Script unheardOf(long startMillis) {
    return new Script()
        .plan(0, "r", "", "a")
        .submit(10_000, "r", Result.UNKNOWN, "")
        .ran("w1", "r", "a", 1, startMillis, startMillis + 1_000)
        .read(500_000, "r", true, RunRead.SUCCESS, succeeded("a", FIRST));
  }

  @Test
  void shouldFindARunThatEndsOtherwiseThanMeant() {
    invalid(
        new RunsEnd(),
        new Script().committed(0, "r", "a").read(50, "r", true, "RUN_FAILED").end(60),
        "ended as RUN_FAILED");
    invalid(
        new RunsEnd(),
        new Script().committed(0, "r", "a").read(50, "r", true, RunRead.CANCELLED).end(60),
        "but nobody asked");
  }

  // Second executions.

  @Test
  void shouldExplainSecondExecutions() {
    Script script =
        ended(succeeded("a", LOST, SECOND))
            .inject(22, 1, "w1", 0, 0)
            .ran("w1", "r", "a", 1, 20, -1)
            .killed(25, "w1")
            .ran("w2", "r", "a", 2, 26, 30)
            .heal(40, 1)
            .committed(12, "q", "a")
            .read(
                50, "q", true, RunRead.SUCCESS, succeeded("a", attempt(1, "w1", "FAILED"), SECOND))
            .ran("w1", "q", "a", 1, 13, 14)
            .ran("w2", "q", "a", 2, 15, 16);
    History history = script.end(60);
    assertEquals(2, valid(new Reruns(), history).looked());
    assertEquals(
        Map.of("failure, tried again", 1L, "worker lost by fault", 1L),
        Reruns.reasons(Reruns.of(history)));
  }

  @Test
  void shouldFindSecondExecutionsWithoutAReason() {
    Script lost =
        ended(succeeded("a", LOST, SECOND))
            .inject(22, 1, "s1", 0, 0)
            .heal(40, 1)
            .ran("w1", "r", "a", 1, 20, 40)
            .ran("w2", "r", "a", 2, 26, 30);
    History history = lost.end(60);
    invalid(new Reruns(), history, "nothing that was done explains it");
    assertTrue(Reruns.of(history).getFirst().running());
    Script finished =
        ended(succeeded("a", FIRST)).ran("w1", "r", "a", 1, 20, 22).ran("w2", "r", "a", 2, 26, 30);
    invalid(new Reruns(), finished.end(60), "though it had an accepted result");
    Script unread =
        new Script()
            .committed(10, "r", "a")
            .ran("w1", "r", "a", 1, 20, 22)
            .ran("w2", "r", "a", 2, 26, 30);
    unknown(new Reruns(), unread.end(60), "could not be read");
  }

  // Enough load.

  @Test
  void shouldNotTrustARoundWithoutLoad() {
    Script script = new Script().inject(100, 1, "s1", 0, 0).operations(150, 50).heal(200, 1);
    valid(new EnoughLoad(), script.end(300));
    script.inject(300, 2, "s1", 0, 0).operations(350, 49).heal(400, 2);
    unknown(new EnoughLoad(), script.end(500), "in round 2 only 49");
    unknown(new EnoughLoad(), new Script().end(1), "no fault");
  }
}
