package dev.baton.worker.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.proto.v1.Drain;
import dev.baton.proto.v1.Inventory;
import dev.baton.proto.v1.InventoryRequest;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.ResultAck.Verdict;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TaskProgress;
import dev.baton.proto.v1.TermStarted;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.worker.protocol.Outputs.Drop;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WorkerProtocolTest {
  private static final long GENERATION = 7;
  private static final String A = "node-a";
  private static final String B = "node-b";
  private static final String INCARNATION = "inc";

  private final Recorder out = new Recorder();
  private WorkerProtocol worker = new WorkerProtocol("w", INCARNATION, 2, out);

  @BeforeEach
  void greet() {
    worker.streamOpened(A);
    worker.streamOpened(B);
    say(A, message(10).setTermStarted(TermStarted.getDefaultInstance()));
    out.sent.clear();
  }

  @Test
  void shouldSayHelloFirst() {
    worker.streamOpened("node-c");
    WorkerMessage first = out.sent.getFirst().message();
    assertEquals("w", first.getHello().getWorkerId());
    assertEquals(1, first.getHello().getProtocolVersion());
    assertEquals(INCARNATION, first.getIncarnation());
  }

  @Test
  void shouldAnswerAGreetingWithOneInventory() {
    assign(A, 10, id(1));
    say(A, message(10).setInventoryRequest(InventoryRequest.getDefaultInstance()));
    List<WorkerMessage> said = out.take(A);
    assertEquals(1, said.size());
    assertEquals(List.of(id(1).toProto()), said.getFirst().getInventory().getRunningList());
    assertEquals(1, said.getFirst().getInventory().getFreeSlots());
    assertEquals(10, said.getFirst().getTerm());
    assertEquals(GENERATION, said.getFirst().getGeneration());
  }

  @Test
  void shouldDropAnotherGeneration() {
    say(A, message(11).setGeneration(8).addAssignments(assignment(id(1))));
    assertEquals(List.of(), out.started);
    assertEquals(List.of(Drop.GENERATION), out.drops);
    assertEquals(10, worker.term());
  }

  @Test
  void shouldDropAnotherIncarnation() {
    say(A, message(10).setIncarnation("older").addAssignments(assignment(id(1))));
    assertEquals(List.of(), out.started);
    assertEquals(List.of(Drop.INCARNATION), out.drops);
  }

  @Test
  void shouldDropALowerTermOnEveryStream() {
    say(B, message(12).setTermStarted(TermStarted.getDefaultInstance()));
    assign(A, 10, id(1));
    say(A, message(10).addAcks(ack(id(2))));
    assertEquals(List.of(), out.started);
    assertEquals(List.of(Drop.TERM, Drop.TERM), out.drops);
    assertEquals(B, worker.leader());
  }

  @Test
  void shouldDropTheSameTermFromAnotherNode() {
    assign(B, 10, id(1));
    assertEquals(List.of(Drop.TERM), out.drops);
  }

  @Test
  void shouldAnswerPingsOfNodesThatDoNotLead() {
    say(B, SchedulerMessage.newBuilder().setPing(Ping.newBuilder().setNonce(42)));
    assertEquals(42, out.take(B).getFirst().getPong().getNonce());
  }

  /** As after a stop: the streams still hold what was said to a registration that has ended. */
  @Test
  void shouldStartNothingThatWasSaidToAnEarlierRegistration() {
    assign(A, 10, id(1));
    out.lease = 0;
    assign(A, 10, id(2));
    out.lease = 2;
    assign(A, 10, id(2));
    assertEquals(List.of(id(1)), out.started);
    assertEquals(List.of(Drop.REGISTRATION, Drop.REGISTRATION), out.drops);

    out.sent.clear();
    worker.tick();
    long ping =
        out.sent.stream()
            .filter(sent -> sent.node().equals(A))
            .findFirst()
            .orElseThrow()
            .message()
            .getPing()
            .getNonce();
    say(A, message(10).setPong(Pong.newBuilder().setNonce(ping - 1)));
    assign(A, 10, id(2));
    assertEquals(List.of(id(1)), out.started, "an answer to an earlier ping proves nothing");
    out.take(A);
    say(A, message(10).setPong(Pong.newBuilder().setNonce(ping)));
    List<WorkerMessage> said = out.take(A);
    assertEquals(List.of(id(1).toProto()), said.getFirst().getInventory().getRunningList());
    assign(A, 10, id(2));
    assertEquals(List.of(id(1), id(2)), out.started);
  }

  @Test
  void shouldTrustAStreamThatWasOpenedUnderTheRegistration() {
    out.lease = 2;
    worker.streamOpened(A);
    say(A, message(10).setTermStarted(TermStarted.getDefaultInstance()));
    assign(A, 10, id(1));
    assertEquals(List.of(id(1)), out.started);
  }

  @Test
  void shouldDropACopyOfARunningAttempt() {
    assign(A, 10, id(1));
    assign(A, 10, id(1));
    assertEquals(List.of(id(1)), out.started);
    assertEquals(List.of(Drop.KNOWN_ASSIGNMENT), out.drops);
  }

  @Test
  void shouldDropACopyOfAnAttemptWhoseResultIsKept() {
    assign(A, 10, id(1));
    finish(id(1));
    assign(A, 10, id(1));
    assertEquals(List.of(id(1)), out.started);
  }

  @Test
  void shouldReturnWhatIsAboveItsSlots() {
    assign(A, 10, id(1), id(2), id(3));
    assertEquals(List.of(id(1), id(2)), out.started);
    assertEquals(List.of(id(3).toProto()), out.take(A).getFirst().getReturnedList());
  }

  @Test
  void shouldNotRunACopyOfAReturnedAttempt() {
    assign(A, 10, id(1), id(2), id(3));
    out.sent.clear();
    finish(id(1));
    say(A, message(10).addAcks(ack(id(1))));
    out.sent.clear();
    assign(A, 10, id(3));
    assertEquals(List.of(id(1), id(2)), out.started);
    assertEquals(List.of(id(3).toProto()), out.take(A).getFirst().getReturnedList());
    say(A, message(10).addAcks(ack(id(3))).addAssignments(assignment(id(3))));
    assertFalse(out.started.contains(id(3)), "not after the acknowledgement either");
  }

  @Test
  void shouldKeepReturnsInTheInventoryUntilTheyAreAcknowledged() {
    assign(A, 10, id(1), id(2), id(3));
    out.sent.clear();
    say(A, message(10).setInventoryRequest(InventoryRequest.getDefaultInstance()));
    List<WorkerMessage> said = out.take(A);
    assertEquals(List.of(id(3).toProto()), said.getFirst().getInventory().getReturnedList());
    assertEquals(List.of(id(3).toProto()), said.get(1).getReturnedList());
    say(A, message(10).addAcks(ack(id(3))));
    say(A, message(10).setInventoryRequest(InventoryRequest.getDefaultInstance()));
    assertEquals(0, out.take(A).getFirst().getInventory().getReturnedCount());
  }

  @Test
  void shouldBoundReturns() {
    for (int i = 0; i < WorkerProtocol.MAX_RETURNED + 10; i++) {
      assign(A, 10, id(i));
    }
    assertEquals(8, out.drops.stream().filter(Drop.TOO_MANY_RETURNS::equals).count());
  }

  @ParameterizedTest
  @EnumSource(
      value = Verdict.class,
      names = {"ACCEPTED", "DUPLICATE", "STALE", "UNKNOWN"})
  void shouldKeepAResultUntilAnyVerdict(Verdict verdict) {
    assign(A, 10, id(1));
    finish(id(1));
    assertEquals(1, worker.outboxCount());
    assertEquals(1, worker.slotsUsed());
    say(A, message(10).addAcks(ack(id(1)).toBuilder().setVerdict(verdict)));
    assertEquals(0, worker.outboxCount());
    assertEquals(0, worker.slotsUsed());
  }

  @Test
  void shouldUseTheSlotThatAnAcknowledgementInTheSameMessageFrees() {
    assign(A, 10, id(1), id(2));
    finish(id(1));
    say(A, message(10).addAcks(ack(id(1))).addAssignments(assignment(id(3))));
    assertTrue(out.started.contains(id(3)));
  }

  @Test
  void shouldSendResultsToTheLeaderOnly() {
    assign(A, 10, id(1));
    finish(id(1));
    assertEquals(List.of(A), out.sent.stream().map(Recorder.Sent::node).toList());
  }

  @Test
  void shouldSendWhatEndedTogetherInOneMessage() {
    assign(A, 10, id(1), id(2));
    worker.finished(Recorder.success(id(1), "1"), true);
    worker.finished(Recorder.success(id(2), "2"), true);
    worker.flush();
    List<WorkerMessage> said = out.take(A);
    assertEquals(1, said.size());
    assertEquals(2, said.getFirst().getResultsCount());
  }

  @Test
  void shouldWaitForTheGreetingOnAStreamThatOpensAgain() {
    assign(A, 10, id(1));
    worker.streamClosed(A);
    finish(id(1));
    worker.streamOpened(A);
    worker.flush();
    assertEquals(List.of(), out.take(A), "nothing is said before the leader speaks");
    say(A, message(10).setTermStarted(TermStarted.getDefaultInstance()));
    List<WorkerMessage> said = out.take(A);
    assertEquals(List.of(id(1).toProto()), said.get(0).getInventory().getResultsList());
    assertEquals(id(1), AttemptId.of(said.get(1).getResults(0)));
  }

  @Test
  void shouldTellANewLeaderEverythingAgain() {
    assign(A, 10, id(1), id(2));
    finish(id(1));
    out.sent.clear();
    say(B, message(12).setTermStarted(TermStarted.getDefaultInstance()));
    List<WorkerMessage> said = out.take(B);
    assertEquals(List.of(id(2).toProto()), said.get(0).getInventory().getRunningList());
    assertEquals(List.of(id(1).toProto()), said.get(0).getInventory().getResultsList());
    assertEquals(12, said.get(1).getTerm());
    assertEquals(id(1), AttemptId.of(said.get(1).getResults(0)));
  }

  @Test
  void shouldIgnoreAnAcknowledgementOfAnOldTerm() {
    assign(A, 10, id(1));
    finish(id(1));
    say(B, message(12).setTermStarted(TermStarted.getDefaultInstance()));
    say(A, message(10).addAcks(ack(id(1))));
    assertEquals(1, worker.outboxCount());
  }

  @Test
  void shouldCancelARunningAttemptOnce() {
    assign(A, 10, id(1));
    cancel(A, id(1));
    cancel(A, id(1));
    assertEquals(List.of(id(1)), out.cancelled);
    assertEquals(List.of(), out.take(A));
  }

  @Test
  void shouldNeverStartWhatWasCancelledBeforeItCame() {
    cancel(A, id(1));
    assertEquals(List.of(id(1).toProto()), out.take(A).getFirst().getCancelledUnknownList());
    assign(A, 10, id(1));
    assertEquals(List.of(), out.started);
    assertEquals(List.of(id(1).toProto()), out.take(A).getFirst().getCancelledUnknownList());
  }

  @Test
  void shouldNotAnswerACancelOfAnAttemptWhoseResultIsOnItsWay() {
    assign(A, 10, id(1));
    finish(id(1));
    out.sent.clear();
    cancel(A, id(1));
    assertEquals(List.of(), out.take(A));
  }

  @Test
  void shouldForgetTheOldestCancelsFirst() {
    for (int i = 0; i <= WorkerProtocol.MAX_NEVER; i++) {
      cancel(A, id(i));
    }
    assign(A, 10, id(0), id(1));
    assertEquals(List.of(id(0)), out.started);
  }

  @Test
  void shouldKeepTheSlotOfAnOverdueHandlerUntilItReturns() {
    assign(A, 10, id(1));
    worker.finished(Recorder.success(id(1), ""), false);
    say(A, message(10).addAcks(ack(id(1))));
    assertEquals(1, worker.slotsUsed());
    assertEquals(1, worker.overdueCount());
    out.sent.clear();
    say(A, message(10).setInventoryRequest(InventoryRequest.getDefaultInstance()));
    Inventory held = out.take(A).getFirst().getInventory();
    assertEquals(List.of(id(1).toProto()), held.getLingeringList());
    assertEquals(List.of(), held.getRunningList(), "it was judged, and must not be taken up again");
    cancel(A, id(1));
    assertEquals(List.of(), out.take(A), "it is held: the cancel is not of an unknown attempt");
    worker.handlerReturned(id(1));
    assertEquals(0, worker.slotsUsed());
    worker.flush();
    assertEquals(2, out.take(A).getFirst().getInventory().getFreeSlots(), "nobody asked for it");
  }

  @Test
  void shouldFreeTheSlotOfAnOverdueHandlerByTheAcknowledgementThatComesLater() {
    assign(A, 10, id(1));
    worker.finished(Recorder.success(id(1), ""), false);
    worker.handlerReturned(id(1));
    worker.flush();
    assertEquals(1, out.take(A).getFirst().getResultsCount());
    assertEquals(1, worker.slotsUsed());
    say(A, message(10).addAcks(ack(id(1))));
    assertEquals(0, worker.slotsUsed());
    assertEquals(List.of(), out.take(A), "the leader knows: it has the result");
  }

  @Test
  void shouldFillMessagesUpToTheirLimit() {
    worker = new WorkerProtocol("w", INCARNATION, 20, out);
    greet();
    String large = "\"" + "x".repeat(250_000) + "\"";
    for (int i = 0; i < 10; i++) {
      assign(A, 10, id(i));
    }
    for (int i = 0; i < 10; i++) {
      worker.finished(Recorder.success(id(i), large), true);
    }
    worker.flush();
    List<WorkerMessage> said = out.take(A);
    assertEquals(3, said.size(), "four results of 250 kB fit into 1 MiB");
    said.forEach(message -> assertTrue(message.getSerializedSize() <= 1 << 20));
    assertEquals(10, said.stream().mapToInt(WorkerMessage::getResultsCount).sum());
  }

  @Test
  void shouldHoldBackWhatTheStreamDoesNotTake() {
    assign(A, 10, id(1), id(2));
    out.full.add(A);
    finish(id(1));
    finish(id(2));
    assertEquals(List.of(), out.take(A));
    out.full.clear();
    worker.flush();
    assertEquals(List.of(id(1), id(2)), out.resultsTo(A));
  }

  @Test
  void shouldSendAnInventoryOfFullSlotsInOneMessage() {
    worker = new WorkerProtocol("w", INCARNATION, WorkerProtocol.MAX_SLOTS, out);
    greet();
    String longName = "t".repeat(128);
    IntStream.range(0, WorkerProtocol.MAX_SLOTS + WorkerProtocol.MAX_RETURNED)
        .forEach(i -> assign(A, 10, new AttemptId("01J0000000000000000000000R", longName + i, 1)));
    out.sent.clear();
    say(A, message(10).setInventoryRequest(InventoryRequest.getDefaultInstance()));
    WorkerMessage first = out.take(A).getFirst();
    assertEquals(WorkerProtocol.MAX_SLOTS, first.getInventory().getRunningCount());
    assertTrue(first.getSerializedSize() <= 1 << 20, "bytes: " + first.getSerializedSize());
  }

  @Test
  void shouldCloseAStreamThatAnswersNoPings() {
    for (int i = 0; i < 5; i++) {
      worker.received(A, message(0).setPong(Pong.getDefaultInstance()).build());
      worker.tick();
    }
    assertEquals(List.of(B, B, B), out.closed);
  }

  @Test
  void shouldSendTheNewestProgressWithTheTick() {
    assign(A, 10, id(1));
    worker.progress(progress(0.1));
    worker.progress(progress(0.2));
    worker.flush();
    assertEquals(List.of(), out.take(A));
    worker.tick();
    worker.flush();
    List<WorkerMessage> said = out.take(A);
    assertEquals(1, said.size());
    assertEquals(0.2, said.getFirst().getProgress(0).getFraction());
  }

  @Test
  void shouldReturnEverythingWhileItDrains() {
    worker.drain();
    assign(A, 10, id(1));
    assertEquals(List.of(), out.started);
    assertEquals(1, out.take(A).getFirst().getReturnedCount());
    say(A, message(10).setInventoryRequest(InventoryRequest.getDefaultInstance()));
    assertEquals(0, out.take(A).getFirst().getInventory().getFreeSlots());
  }

  @Test
  void shouldReturnEverythingOnceALeaderAskedItToDrainAndSaySoOnce() {
    say(A, message(10).setDrain(Drain.getDefaultInstance()));
    say(A, message(10).setDrain(Drain.getDefaultInstance()));
    assertEquals(1, out.drains);
    assign(A, 10, id(1));
    assertEquals(List.of(), out.started);
    assertEquals(1, out.take(A).getFirst().getReturnedCount());
  }

  @Test
  void shouldNotDrainForANodeThatWasReplacedNorForAnotherProcess() {
    say(B, message(11).setTermStarted(TermStarted.getDefaultInstance()));
    say(A, message(10).setDrain(Drain.getDefaultInstance()));
    say(B, message(11).setIncarnation("older").setDrain(Drain.getDefaultInstance()));
    assertEquals(0, out.drains);
    assertEquals(List.of(Drop.TERM, Drop.INCARNATION), out.drops);
  }

  @Test
  void shouldRefuseAResultOfWhatDoesNotRun() {
    assertThrows(
        IllegalStateException.class, () -> worker.finished(Recorder.success(id(1), ""), true));
  }

  private static TaskProgress progress(double fraction) {
    return TaskProgress.newBuilder().setAttempt(id(1).toProto()).setFraction(fraction).build();
  }

  private static AttemptId id(int task) {
    return new AttemptId("run", "t" + task, 1);
  }

  private static SchedulerMessage.Builder message(long term) {
    return SchedulerMessage.newBuilder()
        .setGeneration(GENERATION)
        .setIncarnation(INCARNATION)
        .setTerm(term);
  }

  private static TaskAssignment assignment(AttemptId id) {
    return TaskAssignment.newBuilder()
        .setWorkflowId(id.runId())
        .setTaskId(id.taskId())
        .setAttempt(id.attempt())
        .build();
  }

  private static ResultAck ack(AttemptId id) {
    return ResultAck.newBuilder().setAttempt(id.toProto()).setVerdict(Verdict.ACCEPTED).build();
  }

  private void assign(String node, long term, AttemptId... ids) {
    SchedulerMessage.Builder message = message(term);
    for (AttemptId id : ids) {
      message.addAssignments(assignment(id));
    }
    say(node, message);
  }

  private void cancel(String node, AttemptId id) {
    say(node, message(10).addCancels(TaskCancel.newBuilder().setAttempt(id.toProto())));
  }

  private void finish(AttemptId id) {
    worker.finished(Recorder.success(id, "null"), true);
    worker.flush();
  }

  private void say(String node, SchedulerMessage.Builder message) {
    worker.received(node, message.build());
    worker.flush();
  }
}
