package dev.baton.scheduler.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.ResultAck.Verdict;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerHello;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.WiredNode;
import dev.baton.scheduler.testing.WorkerCall;
import dev.baton.scheduler.testing.Workflows;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The wire to workers, over real channels. */
class WorkerStreamsTest extends RealEtcd {
  private static final String HELLO_MISSING =
      "A stream's first message carries `hello` with a worker_id, and an incarnation: 1 to 64 of"
          + " A-Z, a-z, 0-9, '.', '_' and '-'.";

  private WiredNode node;

  WorkerStreamsTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    node = new WiredNode("n1", this::client, keys).awaitLeading();
  }

  @AfterEach
  void stop() {
    node.close();
    assertEquals(List.of(), node.faults);
  }

  private WorkerCall registered(String id, int slots) {
    put(
        keys.worker(id),
        WorkerRecord.newBuilder()
            .setWorkerId(id)
            .setIncarnation("i1")
            .addCapabilities("*")
            .setSlots(slots)
            .build()
            .toByteString());
    return WorkerCall.open(node, id, "i1");
  }

  private String submit(String yaml) {
    return node.api()
        .submitRun(SubmitRunRequest.newBuilder().setDefinition(yaml).build())
        .getRunId();
  }

  private void assertRefused(WorkerMessage.Builder first) {
    WorkerCall call = new WorkerCall(node.channel(), "w", "i1", true);
    call.say(first);
    call.say(call.message());
    Status status = await(call.ended);
    assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
    assertEquals(HELLO_MISSING, status.getDescription());
  }

  private static WorkerMessage.Builder hello(String workerId, String incarnation) {
    return WorkerMessage.newBuilder()
        .setIncarnation(incarnation)
        .setHello(WorkerHello.newBuilder().setWorkerId(workerId));
  }

  @Test
  void shouldRefuseAStreamThatDoesNotSayWhoseItIs() {
    assertRefused(WorkerMessage.newBuilder().setIncarnation("i1"));
    assertRefused(hello("", "i1"));
    assertRefused(hello("no spaces", "i1"));
    assertRefused(hello("w".repeat(65), "i1"));
    assertRefused(hello("w", ""));
    assertRefused(hello("w", "a/b"));
  }

  @Test
  void shouldAnswerPingsAndAskThemselves() {
    WorkerCall call = WorkerCall.open(node, "w", "i1");
    call.say(call.message().setPing(Ping.newBuilder().setNonce(42)));
    awaitUntil("the pong", () -> call.messages.stream().anyMatch(SchedulerMessage::hasPong));
    SchedulerMessage pong =
        call.messages.stream().filter(SchedulerMessage::hasPong).findFirst().orElseThrow();
    assertEquals(42, pong.getPong().getNonce());
    assertEquals(0, pong.getTerm());
    assertEquals(WiredNode.GENERATION, pong.getGeneration());
    assertEquals("i1", pong.getIncarnation());
    assertEquals("n1", pong.getNodeId());
    awaitUntil("a ping", () -> !call.pings.isEmpty());
  }

  @Test
  void shouldAskAProcessToEndOnEachOfItsStreamsButNotTheNextOne() {
    WorkerCall call = registered("w", 4);
    awaitUntil("the registration", () -> node.loop.status().load().workers() == 1);
    var drain = CordonWorkerRequest.newBuilder().setWorkerId("w").setDrain(true).build();
    assertTrue(node.api().cordonWorker(drain).getSeq() > 0);
    awaitUntil("it", () -> call.messages.stream().anyMatch(SchedulerMessage::hasDrain));
    WorkerCall again = WorkerCall.open(node, "w", "i1");
    awaitUntil("it again", () -> again.messages.stream().anyMatch(SchedulerMessage::hasDrain));
    WorkerCall next = WorkerCall.open(node, "w", "i2");
    awaitUntil(
        "a greeting", () -> next.messages.stream().anyMatch(SchedulerMessage::hasTermStarted));
    assertFalse(next.messages.stream().anyMatch(SchedulerMessage::hasDrain));
  }

  @Test
  void shouldGreetAWorkerAndHandItWhatWaits() {
    String run = submit(Workflows.diamond("w"));
    WorkerCall call = registered("w", 4);
    TaskAssignment a = call.awaitAssignment("a");
    assertEquals(run, a.getWorkflowId());
    assertEquals("echo", a.getTaskType());
    assertEquals(1, a.getAttempt());
    assertEquals(run + "/a", a.getIdempotencyKey());
    assertEquals(5, a.getPriority());
    assertTrue(a.getSeq() > 0);
    assertTrue(a.getCreatedAt() > 0);
    long term = node.loop.leader().term();
    call.messages.stream()
        .filter(message -> !message.hasPong())
        .forEach(message -> assertEquals(term, message.getTerm()));
    assertTrue(call.messages.stream().anyMatch(SchedulerMessage::hasTermStarted));

    call.say(WorkerCall.success(a, "1"));
    call.awaitAssignment("d");
    SchedulerMessage next =
        call.messages.stream().filter(m -> m.getAcksCount() > 0).findFirst().orElseThrow();
    assertEquals(Verdict.ACCEPTED, next.getAcks(0).getVerdict());
    assertEquals(WorkerCall.name(run, "a", 1), next.getAcks(0).getAttempt());
    assertEquals(3, next.getAssignmentsCount(), "what belongs to one entry leaves together");
  }

  @Test
  void shouldDropMessagesOfAnotherGenerationOrIncarnation() {
    WorkerCall call = WorkerCall.open(node, "w", "i1");
    awaitUntil("the greeting", () -> !call.messages.isEmpty());
    TaskResult result =
        TaskResult.newBuilder()
            .setRunId(new RunId(1, 1).toString())
            .setTaskId("a")
            .setAttempt(1)
            .setStatus(TaskResult.Status.SUCCESS)
            .build();
    call.say(call.message().setGeneration(5).addResults(result));
    call.say(call.message().setIncarnation("i2").addResults(result));
    call.say(call.message().setPing(Ping.newBuilder().setNonce(1)));
    awaitUntil("the pong", () -> call.messages.stream().anyMatch(SchedulerMessage::hasPong));
    awaitAlways("no ack", Duration.ofMillis(200), () -> acks(call) == 0);
    call.say(call.message().setGeneration(0).addResults(result));
    awaitUntil("an ack", () -> acks(call) == 1);
  }

  private static long acks(WorkerCall call) {
    return call.messages.stream().mapToLong(SchedulerMessage::getAcksCount).sum();
  }

  @Test
  void shouldEndTheOlderStreamOfALife() {
    WorkerCall older = registered("w", 4);
    awaitUntil("the greeting", () -> !older.messages.isEmpty());
    WorkerCall newer = WorkerCall.open(node, "w", "i1");
    Status status = await(older.ended);
    assertEquals(Status.Code.ABORTED, status.getCode());
    assertEquals("A newer stream of this worker has come.", status.getDescription());
    submit(Workflows.one("w"));
    newer.awaitAssignment("a");
    assertFalse(newer.ended.isDone());
  }

  @Test
  void shouldKeepStreamsOfTwoLivesApart() {
    WorkerCall one = registered("w", 4);
    WorkerCall other = WorkerCall.open(node, "w", "i2");
    awaitUntil("both are greeted", () -> !one.messages.isEmpty() && !other.messages.isEmpty());
    submit(Workflows.one("w"));
    one.awaitAssignment("a");
    assertEquals(List.of(), other.assignments(), "it is not registered");
    other.complete();
    assertEquals(Status.Code.OK, await(other.ended).getCode());
  }

  @Test
  void shouldNotGreetFromANodeThatFollows() {
    try (WiredNode standby = new WiredNode("n2", this::client, keys).awaitStandby()) {
      WorkerCall call = WorkerCall.open(standby, "w", "i1");
      awaitUntil("a ping", () -> !call.pings.isEmpty());
      assertEquals(List.of(), call.messages);
      assertEquals(0, call.pings.getFirst().getTerm());
    }
  }

  /** Each task gets 480 KiB. */
  private void submitLong(int tasks) {
    StringBuilder yaml = new StringBuilder("name: long\nparams: {x: a}\ntasks:\n");
    for (int i = 0; i < tasks; i++) {
      yaml.append("  - {id: t")
          .append(i)
          .append(", type: echo, params: {x: \"${{ params.x }}\", y: \"${{ params.x }}\"}}\n");
    }
    var unused =
        node.api()
            .submitRun(
                SubmitRunRequest.newBuilder()
                    .setDefinition(yaml.toString())
                    .putParams("x", "\"" + "l".repeat(240 << 10) + "\"")
                    .build());
  }

  @Test
  void shouldDropWhatHasNotLeftWhenTheTermEnds() {
    var unused = registered("other", 0);
    put(
        keys.worker("w"),
        WorkerRecord.newBuilder()
            .setWorkerId("w")
            .setIncarnation("i1")
            .addCapabilities("*")
            .setSlots(100)
            .build()
            .toByteString());
    WorkerCall slow = new WorkerCall(node.channel(), "w", "i1", false);
    slow.hello();
    submitLong(20);
    long term = node.loop.leader().term();
    awaitUntil("they are assigned", () -> node.loop.status().load().slotsUsed() == 20);
    // Evaluated and handed to the stream, of which the transport took about 1 MiB.
    awaitAlways("a while", Duration.ofMillis(500), () -> true);
    slow.ignore();
    delete(keys.leader());
    awaitUntil(
        "the next term", () -> node.loop.leader().isSelf() && node.loop.leader().term() != term);
    slow.read(1_000);
    awaitUntil(
        "the next greeting",
        () -> slow.messages.stream().anyMatch(m -> m.hasTermStarted() && m.getTerm() != term));
    long left =
        slow.messages.stream()
            .filter(m -> m.getTerm() == term)
            .mapToLong(SchedulerMessage::getAssignmentsCount)
            .sum();
    assertTrue(left < 20, () -> left + " of 20 had left");
  }

  @Test
  void shouldEndAStreamThatIsNotRead() {
    put(
        keys.worker("w"),
        WorkerRecord.newBuilder()
            .setWorkerId("w")
            .setIncarnation("i1")
            .addCapabilities("*")
            .setSlots(1_000)
            .build()
            .toByteString());
    WorkerCall slow = new WorkerCall(node.channel(), "w", "i1", false);
    slow.hello();
    submitLong(150);
    awaitUntil("they are assigned", () -> node.loop.status().load().slotsUsed() == 150);
    awaitUntil("its stream is gone", () -> node.loop.status().load().workers() == 0);
    slow.read(1_000);
    Status status = await(slow.ended);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode());
    assertEquals("The worker does not read its stream.", status.getDescription());
  }
}
