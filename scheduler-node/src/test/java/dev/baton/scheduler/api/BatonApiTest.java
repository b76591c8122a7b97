package dev.baton.scheduler.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetOutputResponse;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.ListRunsRequest;
import dev.baton.proto.v1.ListRunsResponse;
import dev.baton.proto.v1.ListWorkersRequest;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.WatchRunRequest;
import dev.baton.proto.v1.WatchRunResponse;
import dev.baton.proto.v1.Worker.Presence;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.WiredNode;
import dev.baton.scheduler.testing.WorkerCall;
import dev.baton.scheduler.testing.Workflows;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The users' API on a leader and on a node that follows, over real channels. */
class BatonApiTest extends RealEtcd {
  private WiredNode leader;
  private WiredNode standby;

  BatonApiTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    leader = new WiredNode("n1", this::client, keys).awaitLeading();
    standby = new WiredNode("n2", this::client, keys).awaitStandby();
  }

  @AfterEach
  void stop() {
    standby.close();
    leader.close();
    assertEquals(List.of(), leader.faults);
    assertEquals(List.of(), standby.faults);
  }

  private WorkerCall worker(int slots) {
    put(
        keys.worker("w"),
        WorkerRecord.newBuilder()
            .setWorkerId("w")
            .setIncarnation("i1")
            .addCapabilities("echo")
            .setSlots(slots)
            .setHost("127.0.0.1")
            .setPort(1234)
            .build()
            .toByteString());
    return WorkerCall.open(leader, "w", "i1");
  }

  private static SubmitRunRequest.Builder submission(String yaml) {
    return SubmitRunRequest.newBuilder().setDefinition(yaml);
  }

  private SubmitRunResponse submit(String yaml) {
    return leader.api().submitRun(submission(yaml).build());
  }

  private static GetRunRequest get(String run, long minSeq) {
    return GetRunRequest.newBuilder().setRunId(run).setMinSeq(minSeq).build();
  }

  private Run awaitState(String run, RunState state) {
    awaitUntil(
        run + " is " + state, () -> leader.api().getRun(get(run, 0)).getRun().getState() == state);
    return leader.api().getRun(get(run, 0)).getRun();
  }

  private void awaitHistory(int entries) {
    awaitUntil("it leaves", () -> list(keys.history()).size() >= entries);
  }

  private static Status assertRefused(RefusalCode code, Executable call) {
    StatusRuntimeException refusal = assertThrows(StatusRuntimeException.class, call);
    var status = Objects.requireNonNull(StatusProto.fromThrowable(refusal));
    try {
      assertEquals(
          code.name(), status.getDetails(0).unpack(ErrorInfo.class).getReason(), refusal::toString);
    } catch (InvalidProtocolBufferException | IndexOutOfBoundsException e) {
      throw new AssertionError("Expected an ErrorInfo in " + refusal, e);
    }
    return refusal.getStatus();
  }

  private static Task task(Run run, String id) {
    return run.getTasksList().stream()
        .filter(task -> task.getTaskId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldTakeARunOnAnyNodeAndShowItOnAnyNode() {
    SubmitRunResponse submitted =
        standby
            .api()
            .submitRun(
                submission(Workflows.diamond("flow"))
                    .putLabels("team", "red")
                    .setActor("me")
                    .setKey("k1")
                    .setTenant("acme")
                    .build());
    assertFalse(submitted.getExisting());
    assertEquals(
        List.of("No live worker offers echo: its tasks wait for one."),
        submitted.getWarningsList());
    String run = submitted.getRunId();
    for (WiredNode node : List.of(leader, standby)) {
      GetRunResponse found = node.api().getRun(get(run, submitted.getSeq()));
      assertTrue(found.getSeq() >= submitted.getSeq());
      assertEquals(0, found.getStalenessMs());
      Run shown = found.getRun();
      assertEquals("flow", shown.getWorkflow());
      assertEquals("acme", shown.getTenant());
      assertEquals("me", shown.getActor());
      assertEquals("k1", shown.getKey());
      assertEquals("red", shown.getLabelsOrThrow("team"));
      assertEquals(RunState.RUN_RUNNING, shown.getState());
      assertEquals(1, shown.getCounts().getReady());
      assertEquals(4, shown.getCounts().getPending());
      assertEquals("no worker for echo", task(shown, "a").getWaitReason());
      assertEquals("waits for b, c, d", task(shown, "e").getWaitReason());
      assertEquals(List.of("b", "c", "d"), task(shown, "e").getDependsOnList());
      assertEquals(
          0,
          node.api()
              .getRun(GetRunRequest.newBuilder().setRunId(run).setSummaryOnly(true).build())
              .getRun()
              .getTasksCount());
    }
    SubmitRunResponse again =
        standby
            .api()
            .submitRun(
                submission(Workflows.diamond("flow"))
                    .putLabels("team", "red")
                    .setKey("k1")
                    .setTenant("acme")
                    .build());
    assertTrue(again.getExisting());
    assertEquals(run, again.getRunId());
    assertRefused(
        RefusalCode.KEY_CONFLICT,
        () ->
            standby
                .api()
                .submitRun(
                    submission(Workflows.one("other")).setKey("k1").setTenant("acme").build()));
  }

  @Test
  void shouldShowAttemptsOutputsAndHistory() {
    WorkerCall worker = worker(8);
    String yaml =
        """
        name: flow
        tasks:
          - {id: inline, type: echo}
          - {id: stored, type: echo}
          - {id: none, type: echo}
          - {id: broken, type: echo}
          - {id: after, type: echo, dependsOn: [broken]}
        """;
    String run = submit(yaml).getRunId();
    String stored = "\"" + "s".repeat(5_000) + "\"";
    worker.say(WorkerCall.success(worker.awaitAssignment("inline"), "{\"x\":1}"));
    worker.say(WorkerCall.success(worker.awaitAssignment("stored"), stored));
    worker.say(WorkerCall.success(worker.awaitAssignment("none"), ""));
    TaskAssignment broken = worker.awaitAssignment("broken");
    assertRefused(RefusalCode.NO_OUTPUT, () -> leader.api().getOutput(outputOf(run, "broken")));
    worker.say(
        WorkerCall.success(broken, "").toBuilder()
            .setStatus(TaskResult.Status.FAILED)
            .setErrorMessage("it broke")
            .setDurationMs(77)
            .build());
    Run live = awaitState(run, RunState.RUN_FAILED);
    assertRun(live);
    assertOutputs(run, stored);
    awaitHistory(1);
    awaitUntil(
        "it is history on both",
        () ->
            standby.loop.status().load().retained() == 1
                && leader.loop.status().load().retained() == 1);
    for (WiredNode node : List.of(leader, standby)) {
      Run ended = node.api().getRun(get(run, 0)).getRun();
      assertRun(ended);
    }
    assertOutputs(run, stored);

    assertRefused(RefusalCode.TASK_NOT_FOUND, () -> leader.api().getOutput(outputOf(run, "zzz")));
    list(keys.payloads()).forEach(payload -> delete(payload.key()));
    assertRefused(RefusalCode.EXPIRED, () -> leader.api().getOutput(outputOf(run, "stored")));
    list(keys.history()).forEach(entry -> delete(entry.key()));
    assertRefused(RefusalCode.EXPIRED, () -> leader.api().getRun(get(run, 0)));
    assertRefused(RefusalCode.EXPIRED, () -> standby.api().getOutput(outputOf(run, "inline")));
  }

  private static void assertRun(Run run) {
    assertEquals(RunState.RUN_FAILED, run.getState());
    assertEquals("task broken: it broke", run.getReason());
    assertEquals(3, run.getCounts().getSuccess());
    assertEquals(1, run.getCounts().getFailed());
    assertEquals(1, run.getCounts().getSkipped());
    assertTrue(run.getEndedAt() >= run.getCreatedAt());
    Task broken = task(run, "broken");
    assertEquals(TaskState.TASK_FAILED, broken.getState());
    assertEquals("w", broken.getAttempts(0).getWorkerId());
    assertEquals("it broke", broken.getAttempts(0).getReason());
    assertEquals(77, broken.getAttempts(0).getDurationMs());
    assertEquals(TaskState.TASK_SKIPPED, task(run, "after").getState());
    assertEquals(5_002, task(run, "stored").getOutputBytes());
    assertEquals(7, task(run, "inline").getOutputBytes());
  }

  private void assertOutputs(String run, String stored) {
    for (WiredNode node : List.of(leader, standby)) {
      GetOutputResponse inline = node.api().getOutput(outputOf(run, "inline"));
      assertEquals("{\"x\":1}", inline.getOutputJson());
      assertEquals(1, inline.getAttempt());
      assertEquals(stored, node.api().getOutput(outputOf(run, "stored")).getOutputJson());
      assertEquals("null", node.api().getOutput(outputOf(run, "none")).getOutputJson());
      assertRefused(RefusalCode.NO_OUTPUT, () -> node.api().getOutput(outputOf(run, "after")));
    }
  }

  private static GetOutputRequest outputOf(String run, String task) {
    return GetOutputRequest.newBuilder().setRunId(run).setTaskId(task).build();
  }

  @Test
  void shouldFindTheRunOfAKeyThatHasLeft() {
    worker(8).handle(assignment -> WorkerCall.success(assignment, "1"));
    SubmitRunRequest request = submission(Workflows.one("w")).setKey("k").build();
    String run = leader.api().submitRun(request).getRunId();
    awaitHistory(1);
    SubmitRunResponse again = standby.api().submitRun(request);
    assertEquals(run, again.getRunId());
    assertTrue(again.getExisting());
    list(keys.history()).forEach(entry -> delete(entry.key()));
    assertRefused(RefusalCode.EXPIRED, () -> standby.api().submitRun(request));
  }

  @Test
  void shouldNameWhatIsWrongWithARequest() {
    Status run =
        assertRefused(RefusalCode.INVALID_REQUEST, () -> leader.api().getRun(get("nonsense", 0)));
    assertEquals(
        "Expected a run id, a ULID of 26 characters, but got 'nonsense'.", run.getDescription());
    Status page =
        assertRefused(RefusalCode.INVALID_REQUEST, () -> leader.api().listRuns(page("X9")));
    assertEquals(
        "Expected page_token to be one that a list gave, but got 'X9'.", page.getDescription());
    assertRefused(
        RefusalCode.INVALID_REQUEST, () -> leader.api().listRuns(page("L9999999999999999999")));
    assertRefused(
        RefusalCode.INVALID_REQUEST, () -> leader.api().listRuns(page("H9999999999999999999.0")));
    Status limit =
        assertRefused(
            RefusalCode.INVALID_REQUEST,
            () -> leader.api().listRuns(ListRunsRequest.newBuilder().setLimit(1_001).build()));
    assertEquals("Expected limit to be 1 to 1000, but got 1001.", limit.getDescription());
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        () -> leader.api().listRuns(ListRunsRequest.newBuilder().setLimit(-1).build()));
    String id = new RunId(1, 1).toString();
    Status actor =
        assertRefused(
            RefusalCode.INVALID_REQUEST,
            () ->
                standby
                    .api()
                    .cancelRun(
                        CancelRunRequest.newBuilder()
                            .setRunId(id)
                            .setActor("a".repeat(129))
                            .build()));
    assertEquals(
        "Expected actor to have at most 128 characters, but it has 129.", actor.getDescription());
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        () ->
            standby
                .api()
                .cancelRun(
                    CancelRunRequest.newBuilder().setRunId(id).setReason("r".repeat(257)).build()));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        () -> standby.api().submitRun(submission("x").setKey("?").build()));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        () -> standby.api().watchRun(WatchRunRequest.newBuilder().setRunId("?").build()).hasNext());
    for (WiredNode node : List.of(leader, standby)) {
      assertRefused(RefusalCode.RUN_NOT_FOUND, () -> node.api().getRun(get(id, 0)));
      assertRefused(RefusalCode.RUN_NOT_FOUND, () -> node.api().getOutput(outputOf(id, "a")));
      assertRefused(
          RefusalCode.RUN_NOT_FOUND,
          () -> node.api().cancelRun(CancelRunRequest.newBuilder().setRunId(id).build()));
      assertRefused(
          RefusalCode.RUN_NOT_FOUND,
          () -> node.api().watchRun(WatchRunRequest.newBuilder().setRunId(id).build()).hasNext());
    }
    assertRefused(
        RefusalCode.NO_WORKER,
        () ->
            standby
                .api()
                .submitRun(submission(Workflows.one("w")).setRequireWorkers(true).build()));
  }

  private static ListRunsRequest page(String token) {
    return ListRunsRequest.newBuilder().setPageToken(token).build();
  }

  @Test
  void shouldListLiveRunsThenTheHistoryInPages() {
    WorkerCall worker = worker(8);
    worker.handle(assignment -> WorkerCall.success(assignment, "1"));
    List<String> ended = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ended.add(submit(Workflows.one(i % 2 == 0 ? "even" : "odd")).getRunId());
      awaitState(ended.getLast(), RunState.RUN_SUCCESS);
      awaitHistory(i + 1);
    }
    List<String> live = new ArrayList<>();
    long seq = 0;
    for (int i = 0; i < 3; i++) {
      SubmitRunResponse submitted =
          leader
              .api()
              .submitRun(
                  submission("name: waiting\ntasks: [{id: a, type: nobody}]")
                      .setTenant(i == 0 ? "acme" : "")
                      .build());
      live.add(submitted.getRunId());
      seq = submitted.getSeq();
    }
    List<String> newestFirst = new ArrayList<>(live.reversed());
    newestFirst.addAll(ended.reversed());
    for (WiredNode node : List.of(leader, standby)) {
      for (int limit : List.of(1, 2, 3, 50)) {
        ListRunsRequest.Builder request =
            ListRunsRequest.newBuilder().setLimit(limit).setMinSeq(seq);
        assertEquals(newestFirst, all(node, request), "in pages of " + limit);
      }
    }
    assertEquals(
        live.reversed(), all(standby, ListRunsRequest.newBuilder().setState(RunState.RUN_RUNNING)));
    assertEquals(
        ended.reversed(),
        all(standby, ListRunsRequest.newBuilder().setState(RunState.RUN_SUCCESS).setLimit(1)));
    assertEquals(
        List.of(ended.get(2), ended.get(0)),
        all(leader, ListRunsRequest.newBuilder().setName("even").setLimit(1)));
    assertEquals(
        List.of(live.getFirst()), all(leader, ListRunsRequest.newBuilder().setTenant("acme")));
    assertEquals(List.of(), all(leader, ListRunsRequest.newBuilder().setName("nothing")));
    Run one =
        leader
            .api()
            .listRuns(ListRunsRequest.newBuilder().setName("even").setLimit(1).build())
            .getRuns(0);
    assertEquals(0, one.getTasksCount());
    assertEquals(1, one.getCounts().getSuccess());
  }

  private static List<String> all(WiredNode node, ListRunsRequest.Builder request) {
    List<String> runs = new ArrayList<>();
    Set<String> tokens = new HashSet<>();
    ListRunsResponse page;
    do {
      page = node.api().listRuns(request.build());
      assertTrue(request.getLimit() == 0 || page.getRunsCount() <= request.getLimit());
      page.getRunsList().forEach(run -> runs.add(run.getRunId()));
      assertTrue(tokens.add(page.getNextPageToken()), "no page twice");
      request.setPageToken(page.getNextPageToken());
    } while (!page.getNextPageToken().isEmpty());
    return runs;
  }

  @Test
  void shouldCountTheTasksOfALongRunAlsoInLists() {
    worker(100).handle(assignment -> WorkerCall.success(assignment, "1"));
    String run = submit(Workflows.wide("long", 250)).getRunId();
    awaitHistory(1);
    Run listed = leader.api().listRuns(ListRunsRequest.getDefaultInstance()).getRuns(0);
    assertEquals(run, listed.getRunId());
    assertEquals(250, listed.getCounts().getSuccess());
    assertEquals(250, leader.api().getRun(get(run, 0)).getRun().getTasksCount());
  }

  @Test
  void shouldCancelARunFromAnyNode() {
    WorkerCall worker = worker(8);
    String run = submit(Workflows.diamond("w")).getRunId();
    TaskAssignment a = worker.awaitAssignment("a");
    var recorded =
        standby
            .api()
            .cancelRun(
                CancelRunRequest.newBuilder()
                    .setRunId(run)
                    .setActor("me")
                    .setReason("why")
                    .build());
    assertEquals(RunState.RUN_RUNNING, recorded.getState());
    GetRunResponse stopping = standby.api().getRun(get(run, recorded.getSeq()));
    assertTrue(stopping.getRun().getCancelling());
    assertEquals("cancelled by me: why", stopping.getRun().getReason());
    awaitUntil(
        "the cancel",
        () -> worker.messages.stream().anyMatch(message -> message.getCancelsCount() > 0));
    worker.say(
        WorkerCall.success(a, "").toBuilder().setStatus(TaskResult.Status.CANCELLED).build());
    Run ended = awaitState(run, RunState.RUN_CANCELLED);
    assertFalse(ended.getCancelling());
  }

  @Test
  void shouldWatchARunOnAnyNodeUntilItEnds() {
    WorkerCall worker = worker(8);
    SubmitRunResponse submitted =
        submit("name: w\ntasks: [{id: a, type: echo}, {id: b, type: echo, dependsOn: [a]}]");
    TaskAssignment a = worker.awaitAssignment("a");
    List<Iterator<WatchRunResponse>> watches = new ArrayList<>();
    for (WiredNode node : List.of(leader, standby)) {
      WatchRunRequest request =
          WatchRunRequest.newBuilder()
              .setRunId(submitted.getRunId())
              .setMinSeq(submitted.getSeq())
              .build();
      Iterator<WatchRunResponse> watch = node.api().watchRun(request);
      WatchRunResponse first = watch.next();
      assertEquals(2, first.getTasksCount(), "all tasks");
      assertEquals("n1", first.getLeaderNodeId());
      assertEquals(leader.loop.leader().term(), first.getTerm());
      watches.add(watch);
    }
    worker.say(WorkerCall.success(a, "1"));
    worker.say(WorkerCall.success(worker.awaitAssignment("b"), "1"));
    for (Iterator<WatchRunResponse> watch : watches) {
      WatchRunResponse last = WatchRunResponse.getDefaultInstance();
      List<String> words = new ArrayList<>();
      long seq = submitted.getSeq();
      while (watch.hasNext()) {
        last = watch.next();
        assertTrue(last.getSeq() >= seq);
        seq = last.getSeq();
        last.getTasksList().forEach(task -> words.add(task.getTaskId() + " " + task.getState()));
      }
      assertEquals(RunState.RUN_SUCCESS, last.getRun().getState());
      assertTrue(
          words.containsAll(List.of("a TASK_SUCCESS", "b TASK_RUNNING", "b TASK_SUCCESS")),
          words::toString);
    }
    awaitHistory(1);
    Iterator<WatchRunResponse> late =
        leader.api().watchRun(WatchRunRequest.newBuilder().setRunId(submitted.getRunId()).build());
    WatchRunResponse only = late.next();
    assertEquals(RunState.RUN_SUCCESS, only.getRun().getState());
    assertEquals(2, only.getTasksCount());
    assertFalse(late.hasNext());
  }

  @Test
  void shouldShowWorkersAsTheLeaderSeesThem() {
    var unused = worker(8);
    awaitUntil(
        "it is connected",
        () ->
            leader
                .api()
                .listWorkers(ListWorkersRequest.getDefaultInstance())
                .getWorkersList()
                .stream()
                .anyMatch(worker -> worker.getPresence() == Presence.CONNECTED));
    var shown = leader.api().listWorkers(ListWorkersRequest.getDefaultInstance()).getWorkers(0);
    assertEquals("w", shown.getWorkerId());
    assertEquals("127.0.0.1:1234", shown.getAddress());
    assertEquals(8, shown.getSlots());
    awaitUntil(
        "the follower knows it",
        () ->
            standby.api().listWorkers(ListWorkersRequest.getDefaultInstance()).getWorkersCount()
                == 1);
    assertEquals(
        Presence.REGISTERED,
        standby
            .api()
            .listWorkers(ListWorkersRequest.getDefaultInstance())
            .getWorkers(0)
            .getPresence());
    WorkerCall stranger = WorkerCall.open(leader, "stranger", "i9");
    awaitUntil("its greeting", () -> !stranger.messages.isEmpty());
    var second = leader.api().listWorkers(ListWorkersRequest.getDefaultInstance()).getWorkers(1);
    assertEquals("stranger", second.getWorkerId());
    assertEquals(Presence.UNREGISTERED, second.getPresence());
  }

  /** Somebody else holds the key, as an old leader does that has stopped. */
  private void leadElsewhere(String address) {
    put(
        keys.leader(),
        LeaderRecord.newBuilder()
            .setNodeId("elsewhere")
            .setIncarnation("x")
            .setApiAddress(address)
            .build()
            .toByteString());
    for (WiredNode node : List.of(leader, standby)) {
      awaitUntil(
          "they know",
          () -> {
            LeaderRecord known = node.loop.leader().leader();
            return known != null && known.getNodeId().equals("elsewhere");
          });
    }
  }

  private CompletableFuture<SubmitRunResponse> later(Supplier<SubmitRunResponse> call) {
    return CompletableFuture.supplyAsync(call);
  }

  @Test
  void shouldWaitForALeaderUntilTheDeadlineOfTheCall() {
    leadElsewhere("");
    for (WiredNode node : List.of(leader, standby)) {
      Status status =
          assertRefused(
              RefusalCode.NO_LEADER,
              () ->
                  node.api(Duration.ofSeconds(1))
                      .submitRun(submission(Workflows.one("w")).build()));
      assertEquals(Status.Code.UNAVAILABLE, status.getCode());
    }
    CompletableFuture<SubmitRunResponse> waiting =
        later(() -> standby.api().submitRun(submission(Workflows.one("w")).build()));
    awaitAlways("it waits", Duration.ofMillis(300), () -> !waiting.isDone());
    delete(keys.leader());
    assertFalse(await(waiting).getExisting());
  }

  @Test
  void shouldAskTheNextLeaderWhenTheOneBeforeDoesNotAnswer() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      leadElsewhere("127.0.0.1:" + silent.getLocalPort());
      CompletableFuture<SubmitRunResponse> waiting =
          later(() -> standby.api().submitRun(submission(Workflows.one("w")).build()));
      awaitAlways("it waits", Duration.ofMillis(300), () -> !waiting.isDone());
      delete(keys.leader());
      await(waiting);
      leadElsewhere("127.0.0.1:" + silent.getLocalPort());
      assertRefused(
          RefusalCode.NO_LEADER,
          () ->
              standby.api(Duration.ofSeconds(1)).submitRun(submission(Workflows.one("w")).build()));
      delete(keys.leader());
    }
  }

  @Test
  void shouldSendAForwardedCallNoFurther() {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("baton-forwarded", Metadata.ASCII_STRING_MARSHALLER), "1");
    var stub =
        BatonServiceGrpc.newBlockingStub(standby.channel())
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
            .withDeadlineAfter(10, TimeUnit.SECONDS);
    Status status =
        assertRefused(
            RefusalCode.NOT_READY, () -> stub.submitRun(submission(Workflows.one("w")).build()));
    assertEquals(Status.Code.UNAVAILABLE, status.getCode());
  }

  @Test
  void shouldFinishACallAcrossAFailOver() {
    SubmitRunRequest request =
        submission(Workflows.one("w")).setRunId(new RunId(7, 7).toString()).build();
    leader.resign();
    SubmitRunResponse submitted = standby.api().submitRun(request);
    assertEquals(request.getRunId(), submitted.getRunId());
    assertTrue(standby.api().submitRun(request).getExisting());
    standby.awaitLeading();
  }
}
