package dev.baton.scheduler.simulation;

import static dev.baton.scheduler.simulation.Invariant.ACCEPTED;
import static dev.baton.scheduler.simulation.Invariant.ACKNOWLEDGED;
import static dev.baton.scheduler.simulation.Invariant.ATTEMPTS;
import static dev.baton.scheduler.simulation.Invariant.CANCELLED;
import static dev.baton.scheduler.simulation.Invariant.CORDONED;
import static dev.baton.scheduler.simulation.Invariant.DAG_ORDER;
import static dev.baton.scheduler.simulation.Invariant.FAULTLESS;
import static dev.baton.scheduler.simulation.Invariant.FOLD;
import static dev.baton.scheduler.simulation.Invariant.GAPLESS;
import static dev.baton.scheduler.simulation.Invariant.LIVENESS;
import static dev.baton.scheduler.simulation.Invariant.LOAD;
import static dev.baton.scheduler.simulation.Invariant.ONE_LIVE;
import static dev.baton.scheduler.simulation.Invariant.ORDERED_TERMS;
import static dev.baton.scheduler.simulation.Invariant.SLOTS;
import static dev.baton.scheduler.simulation.Invariant.TERMINAL;
import static dev.baton.scheduler.simulation.Invariant.TIMERS;
import static dev.baton.scheduler.simulation.Invariant.WORKER_TERMS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.baton.proto.v1.ResultAck.Verdict;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.simulation.Invariant.Violation;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Each invariant refuses a history that breaks it, and takes one that is like it and does not. */
class InvariantsTest {
  private static final Set<Invariant> TRIED = EnumSet.noneOf(Invariant.class);

  private final History history = new History();

  private static void assertViolates(Invariant invariant, Runnable step) {
    Violation violation = assertThrows(Violation.class, step::run);
    assertEquals(invariant, violation.invariant(), violation::getMessage);
    TRIED.add(invariant);
  }

  @AfterAll
  static void noneIsUntried() {
    assertEquals(EnumSet.allOf(Invariant.class), TRIED);
  }

  @Test
  void shouldTakeAHistoryThatBreaksNothing() {
    history.elect(1);
    history.entry(new Event.TermOpened("s1"));
    history.runOf("a", "b < a").assign(0, 1).success(0, 1).assign(1, 1).success(1, 1);
    history.elect(2).entry(new Event.TermOpened("s2"));
    history.loads();
  }

  @Test
  void shouldRefuseAnEntryOfATermThatLeadsNoMore() {
    history.elect(1).entry(new Event.TermOpened("s1"));
    history.elect(2);
    assertViolates(ORDERED_TERMS, () -> history.entryOf(history.termOf(1)));
  }

  @Test
  void shouldRefuseATouchOfATermThatLeadsNoMore() {
    history.elect(1).entry(new Event.TermOpened("s1"));
    history.elect(2);
    assertViolates(ORDERED_TERMS, () -> history.touchOf(history.termOf(1)));
  }

  @Test
  void shouldRefuseAGapAndAnEntryThatComesTwice() {
    history.elect(1).entry(new Event.TermOpened("s1"));
    assertViolates(GAPLESS, () -> history.entryAt(3));
    assertViolates(GAPLESS, () -> history.entryAt(1));
  }

  @Test
  void shouldRefuseAnEntryWithoutItsHead() {
    history.elect(1);
    assertViolates(GAPLESS, history::entryWithoutHead);
  }

  @Test
  void shouldRefuseAnEventAboutARunThatIsNotThere() {
    history.elect(1);
    assertViolates(FOLD, () -> history.entry(new Event.RunCancelled(77, "me", "")));
  }

  @Test
  void shouldRefuseANodeWhoseStateIsAnother() {
    history.elect(1).entry(new Event.TermOpened("s1"));
    history.observer().compareNow("s1", 1, history.stateAfter(new Event.TermOpened("s1")));
    assertViolates(
        FOLD,
        () ->
            history.observer().compareNow("s1", 1, history.stateAfter(new Event.TermOpened("s2"))));
  }

  @Test
  void shouldRefuseALoadThatLacksAnEntry() {
    history.elect(1).entry(new Event.TermOpened("s1"));
    history.entry(new Event.TermOpened("s1"));
    history.loads();
    history.lose(history.keys().journal(1));
    assertViolates(LOAD, history::loads);
  }

  @Test
  void shouldRefuseThatADefinitionGoesWhichTheJournalNames() {
    history.elect(1);
    history.runOf("a");
    assertViolates(LOAD, history::deleteSpec);
  }

  @Test
  void shouldRefuseASecondLiveAttempt() {
    history.elect(1);
    history.runOf("a").assign(0, 1);
    assertViolates(ONE_LIVE, () -> history.assign(0, 2));
  }

  @Test
  void shouldRefuseToStartAnAttemptTwice() {
    history.elect(1);
    history.runOf("a").assign(0, 1).starts(0, 1, 0);
    assertViolates(ONE_LIVE, () -> history.starts(0, 1, 0));
  }

  @Test
  void shouldRefuseATaskBeforeItsPredecessor() {
    history.elect(1);
    history.runOf("a", "b < a");
    assertViolates(DAG_ORDER, () -> history.assign(1, 1));
  }

  @Test
  void shouldRefuseThatWhatHasEndedGoesOn() {
    history.elect(1);
    history.runOf("a").assign(0, 1).success(0, 1);
    assertViolates(TERMINAL, () -> history.end(0, 1, Outcome.FAILED, -1));
    assertViolates(TERMINAL, () -> history.assign(0, 2));
  }

  @Test
  void shouldRefuseMoreThanAWorkersSlots() {
    history.elect(1);
    history.runOf("a", "b", "c").assign(0, 1).assign(1, 1);
    assertViolates(SLOTS, () -> history.assign(2, 1));
  }

  @Test
  void shouldRefuseAHandlerAboveTheSlots() {
    history.elect(1);
    history.runOf("a").assign(0, 1);
    assertViolates(SLOTS, () -> history.starts(0, 1, History.SLOTS));
  }

  @Test
  void shouldRefuseAResultOfAnAttemptThatIsNotTheLast() {
    history.elect(1);
    history.runOf("a").assign(0, 1).end(0, 1, Outcome.LOST, 0).assign(0, 2);
    history.result(0, 1, Status.SUCCESS);
    assertViolates(ACCEPTED, () -> history.end(0, 1, Outcome.SUCCESS, -1));
  }

  @Test
  void shouldTakeASuccessOfTheLastAttemptThatWasLost() {
    history.elect(1);
    history.runOf("a").assign(0, 1).end(0, 1, Outcome.LOST, 0).success(0, 1);
  }

  @Test
  void shouldRefuseASuccessThatNoHandlerHad() {
    history.elect(1);
    history.runOf("a").assign(0, 1);
    assertViolates(ACCEPTED, () -> history.end(0, 1, Outcome.SUCCESS, -1));
  }

  @Test
  void shouldRefuseThatAnAttemptIsLeftOut() {
    history.elect(1);
    history.runOf("a").assign(0, 1).end(0, 1, Outcome.FAILED, 0);
    assertViolates(ATTEMPTS, () -> history.assign(0, 3));
  }

  @Test
  void shouldRefuseAnythingNewForAWorkerThatIsOutOfService() {
    history.elect(1);
    history.runOf("a", "b").assign(0, 1).entry(new Event.WorkerCordoned("w1", "", "me"));
    assertViolates(CORDONED, () -> history.assign(1, 1));
    history.entry(new Event.WorkerUncordoned("w1"));
    history.assign(1, 1);
  }

  @Test
  void shouldRefuseATaskOfARunThatIsBeingStopped() {
    history.elect(1);
    history.runOf("a", "b").assign(0, 1).cancel();
    assertViolates(CANCELLED, () -> history.assign(1, 1));
  }

  @Test
  void shouldRefuseToSendAnAttemptOfARunThatIsBeingStopped() {
    history.elect(1);
    history.runOf("a").assign(0, 1).cancel();
    assertViolates(CANCELLED, () -> history.sends(0, 1));
  }

  @Test
  void shouldRefuseARetryBeforeItsTime() {
    history.elect(1);
    history.runOf("a").assign(0, 1).end(0, 1, Outcome.FAILED, 5_000);
    assertViolates(TIMERS, () -> history.assign(0, 2));
    history.pass(5_000);
    history.assign(0, 2);
  }

  @Test
  void shouldRefuseJournalTimeThatRunsAhead() {
    history.elect(1).entry(new Event.TermOpened("s1"));
    history.jumpJournalTime(900);
    history.entry(new Event.TermOpened("s1"));
    history.jumpJournalTime(10_000);
    assertViolates(TIMERS, () -> history.entry(new Event.TermOpened("s1")));
  }

  @Test
  void shouldRefuseARunThatTimesOutEarly() {
    history.elect(1);
    history.runOf("a");
    assertViolates(TIMERS, history::timeOutRun);
  }

  @Test
  void shouldRefuseAnAttemptThatIsSentBeforeItIsInTheJournal() {
    history.elect(1);
    history.runOf("a");
    assertViolates(ACKNOWLEDGED, () -> history.sends(0, 1));
  }

  @Test
  void shouldRefuseAnAcknowledgementOfWhatIsNotInTheJournal() {
    history.elect(1);
    history.runOf("a").assign(0, 1);
    assertViolates(ACKNOWLEDGED, () -> history.acknowledges(0, 1, Verdict.ACCEPTED));
    assertViolates(ACKNOWLEDGED, () -> history.acknowledges(0, 1, Verdict.DUPLICATE));
    assertViolates(ACKNOWLEDGED, () -> history.acknowledges(0, 1, Verdict.STALE));
    assertViolates(ACKNOWLEDGED, () -> history.acknowledges(0, 1, Verdict.UNKNOWN));
    history.success(0, 1).acknowledges(0, 1, Verdict.ACCEPTED);
  }

  @Test
  void shouldRefuseAnOlderTermAtAWorker() {
    TermWatch terms = new TermWatch(history.judge(), "w1");
    terms.hears(5);
    terms.obeys("start");
    terms.hears(4);
    assertViolates(WORKER_TERMS, () -> terms.obeys("start"));
  }

  @Test
  void shouldNotWaitForEver() {
    Simulation stuck = new Simulation(1, new dev.baton.workflow.Resolver());
    assertViolates(
        LIVENESS,
        () -> stuck.until(java.time.Duration.ofSeconds(5), "what never comes", () -> false));
  }

  @Test
  void shouldHearOfFaultsThatTheProductReports() {
    Cluster cluster = new Cluster(1, new dev.baton.workflow.Resolver());
    NodeWatch watch = new NodeWatch(cluster, "s1");
    assertViolates(FAULTLESS, () -> watch.onFault("deciding Submit"));
  }
}
