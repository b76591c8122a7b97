package dev.baton.worker;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.ThreadStrand;
import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.worker.attempt.AttemptTimers;
import dev.baton.worker.builtin.BuiltIns;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The worker without etcd: real streams to real gRPC servers. */
@Timeout(60)
class WorkerLoopTest {
  private static final String INCARNATION = "0123456789abcdef";

  private final ThreadStrand strand = new ThreadStrand("worker");
  private final CountDownLatch gate = new CountDownLatch(1);
  private final FakeScheduler scheduler;
  private final WorkerLoop loop;

  WorkerLoopTest() throws IOException {
    scheduler = new FakeScheduler();
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    Map<String, TaskHandler> handlers = new HashMap<>(BuiltIns.harmless());
    handlers.put(
        "gate",
        task -> {
          gate.await();
          return "open";
        });
    handlers.put("large", task -> "x".repeat(250_000));
    loop =
        new WorkerLoop(
            new WorkerLoop.Identity("w1", INCARNATION, 8, handlers),
            strand,
            new AttemptTimers(registry),
            new WorkerMeters(registry),
            () -> 1,
            () -> {},
            null);
  }

  @BeforeEach
  void connect() {
    strand.execute(loop::start);
    strand.execute(() -> loop.nodePut("s1", scheduler.address()));
    scheduler.await(WorkerMessage::hasHello);
    scheduler.lead(5);
    scheduler.await(WorkerMessage::hasInventory);
  }

  @AfterEach
  void close() {
    gate.countDown();
    strand.execute(loop::closeStreams);
    strand.close();
    scheduler.close();
  }

  @Test
  void shouldRunAnAttemptAndForgetItsResultOnceItIsAcknowledged() {
    scheduler.assign(echo("a"));
    TaskResult result = scheduler.awaitResult("a");
    assertEquals(Status.SUCCESS, result.getStatus());
    assertEquals("{\"word\":\"a\"}", result.getOutputJson());
    assertEquals(1, loop.state().outbox());
    scheduler.ack(result);
    await().until(() -> loop.state().outbox() == 0);
  }

  @Test
  void shouldSendItsResultsAgainOnAStreamThatOpensAgain() {
    scheduler.assign(echo("a"), gate("b"));
    scheduler.awaitResult("a");
    scheduler.forget();
    scheduler.breakStream();
    WorkerMessage inventory = scheduler.await(WorkerMessage::hasInventory);
    assertEquals("b", inventory.getInventory().getRunning(0).getTaskId());
    assertEquals("a", inventory.getInventory().getResults(0).getTaskId());
    assertEquals(6, inventory.getInventory().getFreeSlots());
    scheduler.ack(scheduler.awaitResult("a"));
    gate.countDown();
    scheduler.awaitResult("b");
  }

  @Test
  void shouldComeBackToANodeThatWasAway() throws Exception {
    scheduler.assign(gate("a"));
    await().until(() -> loop.state().running() == 1);
    scheduler.stop();
    await().until(() -> loop.state().streamsConnected() == 0);
    gate.countDown();
    await().until(() -> loop.state().outbox() == 1);
    scheduler.forget();
    scheduler.start();
    scheduler.ack(scheduler.awaitResult("a"));
    await().until(() -> loop.state().slotsUsed() == 0);
  }

  @Test
  void shouldGiveUpAStreamThatAnswersNoPings() {
    await().until(() -> loop.state().streamsConnected() == 1);
    scheduler.stopAnsweringPings();
    int before = scheduler.streams();
    await().atMost(Duration.ofSeconds(10)).until(() -> scheduler.streams() > before);
    scheduler.answerPings();
    await().atMost(Duration.ofSeconds(10)).until(() -> loop.state().streamsConnected() == 1);
  }

  @Test
  void shouldAnswerPings() {
    scheduler.await(WorkerMessage::hasPong);
  }

  @Test
  void shouldFollowTheLeaderToAnotherNode() throws Exception {
    try (FakeScheduler second = new FakeScheduler()) {
      strand.execute(() -> loop.nodePut("s2", second.address()));
      second.await(WorkerMessage::hasHello);
      scheduler.assign(gate("a"), echo("b"));
      scheduler.awaitResult("b");
      second.lead(9);
      WorkerMessage inventory = second.await(WorkerMessage::hasInventory);
      assertEquals("a", inventory.getInventory().getRunning(0).getTaskId());
      second.ack(second.awaitResult("b"));
      scheduler.assign(echo("late"));
      gate.countDown();
      second.ack(second.awaitResult("a"));
      await().until(() -> loop.state().slotsUsed() == 0);
      assertTrue(
          scheduler.heard().stream()
              .flatMap(message -> message.getResultsList().stream())
              .noneMatch(result -> result.getTaskId().equals("late")));
      assertEquals("s2", loop.state().leader());
    }
  }

  @Test
  void shouldMoveWithANode() throws Exception {
    try (FakeScheduler moved = new FakeScheduler()) {
      moved.lead(6);
      strand.execute(() -> loop.nodePut("s1", moved.address()));
      moved.await(WorkerMessage::hasInventory);
      assertEquals(1, loop.state().streamsKnown());
    }
  }

  @Test
  void shouldKeepAWorkingStreamOfANodeThatIsNotListed() throws Exception {
    await().until(() -> loop.state().streamsConnected() == 1);
    strand.execute(() -> loop.nodeGone("s1"));
    scheduler.assign(echo("a"));
    scheduler.awaitResult("a");
    scheduler.breakStream();
    await().until(() -> loop.state().streamsKnown() == 0);
  }

  @Test
  void shouldCancel() {
    scheduler.assign(FakeScheduler.task("a", "sleep").putParams("duration", "\"1h\"").build());
    await().until(() -> loop.state().running() == 1);
    AttemptName name =
        AttemptName.newBuilder().setRunId("run").setTaskId("a").setAttempt(1).build();
    scheduler.say(
        SchedulerMessage.newBuilder()
            .addCancels(TaskCancel.newBuilder().setAttempt(name).setReason("by ada")));
    TaskResult result = scheduler.awaitResult("a");
    assertEquals(Status.CANCELLED, result.getStatus());
    assertEquals("cancelled: by ada", result.getErrorMessage());
  }

  @Test
  void shouldReturnWhatIsAboveItsSlots() {
    scheduler.assign(
        IntStream.range(0, 9).mapToObj(i -> gate("t" + i)).toArray(TaskAssignment[]::new));
    WorkerMessage returned = scheduler.await(message -> message.getReturnedCount() > 0);
    assertEquals("t8", returned.getReturned(0).getTaskId());
  }

  @Test
  void shouldHandOverManyLargeResults() {
    scheduler.assign(
        IntStream.range(0, 8)
            .mapToObj(i -> FakeScheduler.task("t" + i, "large").build())
            .toArray(TaskAssignment[]::new));
    for (int i = 0; i < 8; i++) {
      assertEquals(250_002, scheduler.awaitResult("t" + i).getOutputJson().length());
    }
    scheduler.heard().forEach(message -> assertTrue(message.getSerializedSize() <= 1 << 20));
  }

  @Test
  void shouldLiveOnWhileHandlersKeepEveryProcessorBusy() {
    int before = (int) scheduler.heard().stream().filter(WorkerMessage::hasPing).count();
    TaskAssignment[] busy =
        IntStream.range(0, 8)
            .mapToObj(i ->
                FakeScheduler.task("t" + i, "text_process")
                    .putParams("operation", "\"word_count\"")
                    .putParams("text", "\"" + "busy words ".repeat(10_000) + "\"")
                    .build())
            .toArray(TaskAssignment[]::new);
    scheduler.assign(busy);
    for (TaskAssignment task : busy) {
      assertEquals(Status.SUCCESS, scheduler.awaitResult(task.getTaskId()).getStatus());
    }
    await().until(() -> scheduler.heard().stream().filter(WorkerMessage::hasPing).count() > before);
    assertEquals(1, Objects.requireNonNull(loop.state()).streamsConnected());
  }

  private static TaskAssignment echo(String taskId) {
    return FakeScheduler.task(taskId, "echo").putParams("word", "\"" + taskId + "\"").build();
  }

  private static TaskAssignment gate(String taskId) {
    return FakeScheduler.task(taskId, "gate").build();
  }
}
