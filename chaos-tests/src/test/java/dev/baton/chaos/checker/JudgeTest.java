package dev.baton.chaos.checker;

import static dev.baton.chaos.checker.Script.attempt;
import static dev.baton.chaos.checker.Script.succeeded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.checker.Verdict.CheckResult;
import dev.baton.chaos.checker.Verdict.Milliseconds;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.Skipped;
import java.util.List;
import org.junit.jupiter.api.Test;

class JudgeTest {
  private static Script round() {
    return new Script()
        .leader(1, 100, "s1")
        .entry(2, 101, 1, 100)
        .committed(10, "r", "a")
        .inject(1000, 1, "s1", 100, 500)
        .operations(1001, 60)
        .leader(1200, 102, "s2")
        .entry(1210, 103, 2, 102)
        .received(1250, 2, 102)
        .ran("w1", "r", "a", 1, 1300, 1400)
        .heal(2000, 1);
  }

  @Test
  void shouldSumUpAGoodHistory() {
    Verdict verdict =
        Judge.judge(
            round()
                .read(3000, "r", true, RunRead.SUCCESS, succeeded("a", attempt(1, "w1", "SUCCESS")))
                .end(4000));

    assertEquals(Outcome.VALID, verdict.verdict(), verdict.checks().toString());
    assertEquals(1, verdict.rounds());
    assertEquals(1, verdict.runsSubmitted());
    assertEquals(1, verdict.runsEnded());
    assertEquals(0, verdict.lost());
    assertEquals(new Milliseconds(1, 250, 250, 250), verdict.failoverMs());
    assertEquals("s2", verdict.roundDetails().getFirst().nextLeader());
    assertEquals(60, verdict.roundDetails().getFirst().operations());
  }

  @Test
  void shouldTellHowLongTheTasksOfADeadWorkerStoodStill() {
    Verdict verdict =
        Judge.judge(
            new Script()
                .ran("w1", "r", "a", 1, 100, -1)
                .ran("w1", "r", "b", 1, 100, -1)
                .ran("w1", "r", "c", 1, 100, 200)
                .ran("w1", "r", "d", 1, 100, -1)
                .killed(300, "w1")
                .ran("w2", "r", "a", 2, 450, 500)
                .ran("w2", "r", "b", 2, 700, 800)
                .ran("w2", "r", "c", 2, 900, 950)
                .end(4000));
    assertEquals(new Milliseconds(2, 150, 400, 400), verdict.workerLossMs());
  }

  @Test
  void shouldLetTheWorstCheckDecide() {
    Verdict unknown = Judge.judge(round().end(4000));
    assertEquals(Outcome.UNKNOWN, unknown.verdict());

    Verdict invalid =
        Judge.judge(round().entry(1300, 104, 3, 100).read(3000, "r", true, "NOT_FOUND").end(4000));
    assertEquals(Outcome.INVALID, invalid.verdict());
    assertEquals(1, invalid.lost());
    assertEquals(1, invalid.unfencedWrites());
    assertEquals(
        List.of("committed-runs", "one-writer-per-term"),
        invalid.checks().stream()
            .filter(check -> check.outcome() == Outcome.INVALID)
            .map(CheckResult::name)
            .toList());
  }

  @Test
  void shouldCallARunSkippedOfWhichNothingCouldBeDone() {
    Verdict skipped =
        Judge.judge(new Script().add(new Skipped(5, "partition", "not here")).end(10));
    assertEquals(Outcome.SKIPPED, skipped.verdict(), skipped.checks().toString());
    assertEquals(1, skipped.skipped().size());
    assertTrue(skipped.verdict().isGood());

    Verdict broken =
        Judge.judge(
            new Script()
                .add(new Skipped(5, "partition", "not here"))
                .committed(10, "r", "a")
                .read(3000, "r", true, "NOT_FOUND")
                .end(4000));
    assertEquals(Outcome.INVALID, broken.verdict());
    assertFalse(broken.verdict().isGood());
  }

  @Test
  void shouldJudgeTheOtherRoundsWhereOneIsSkipped() {
    Verdict verdict =
        Judge.judge(
            round()
                .add(new Skipped(Script.at(2100), "partition", "not here"))
                .read(3000, "r", true, RunRead.SUCCESS, succeeded("a", attempt(1, "w1", "SUCCESS")))
                .end(4000));
    assertEquals(Outcome.VALID, verdict.verdict(), verdict.checks().toString());
  }
}
