package dev.baton.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.WatchRunResponse;
import io.grpc.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatonClientTest {
  private final TestCluster cluster = new TestCluster();
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void shouldDrawOneIdForASubmissionHoweverOftenItIsSent() throws IOException {
    TestNode node = cluster.start("s1");
    cluster.refuseNext("SubmitRun", Status.UNAVAILABLE.asRuntimeException());
    cluster.refuseNext("SubmitRun", Status.UNAVAILABLE.asRuntimeException());
    try (BatonClient client = client(node)) {
      SubmitRunResponse response = client.submit(submission());

      List<String> ids =
          cluster.requests("SubmitRun").stream()
              .map(request -> ((SubmitRunRequest) request).getRunId())
              .toList();
      assertEquals(List.of(response.getRunId(), response.getRunId(), response.getRunId()), ids);
      assertTrue(response.getRunId().matches("[0-7][0-9A-HJKMNP-TV-Z]{25}"), response.getRunId());
    }
  }

  @Test
  void shouldTurnToAnotherNodeThatItLearnedOf() throws IOException {
    TestNode first = cluster.start("s1");
    TestNode second = cluster.start("s2");
    try (BatonClient client = client(first)) {
      client.listNodes();
      assertEquals(List.of(first.endpoint(), second.endpoint()), client.endpoints());
      first.kill();

      SubmitRunResponse response = client.submit(submission());

      assertEquals("s2", cluster.calls("SubmitRun").getLast().node());
      assertFalse(response.getExisting());
    }
  }

  @Test
  void shouldSendWritesToTheLeaderAndAskForWhatItHasWritten() throws IOException {
    TestNode first = cluster.start("s1");
    cluster.start("s2");
    cluster.lead("s2");
    try (BatonClient client = client(first)) {
      client.listNodes();
      SubmitRunResponse response = client.submit(submission());
      client.get(GetRunRequest.newBuilder().setRunId(response.getRunId()).build());

      assertEquals("s2", cluster.calls("SubmitRun").getFirst().node());
      assertEquals("s1", cluster.calls("GetRun").getFirst().node());
      GetRunRequest read = (GetRunRequest) cluster.requests("GetRun").getFirst();
      assertEquals(response.getSeq(), read.getMinSeq());
    }
  }

  @Test
  void shouldNotRepeatAFault() throws IOException {
    TestNode node = cluster.start("s1");
    cluster.refuseNext(
        "SubmitRun",
        TestCluster.refusal(Status.INTERNAL, RefusalCode.INTERNAL, "A fault of ours.", null));
    try (BatonClient client = client(node)) {
      BatonException refused =
          assertThrows(BatonException.class, () -> client.submit(submission()));

      assertEquals(RefusalCode.INTERNAL, refused.code());
      assertEquals("A fault of ours.", refused.getMessage());
      assertEquals(1, cluster.calls("SubmitRun").size());
    }
  }

  @Test
  void shouldWaitAsLongAsAFullNodeAsks() throws IOException {
    TestNode node = cluster.start("s1");
    cluster.refuseNext("SubmitRun", overloaded(Duration.ofMillis(400)));
    try (BatonClient client = client(node)) {
      client.submit(submission());

      List<TestCluster.Call> calls = cluster.calls("SubmitRun");
      long pause = calls.get(1).nanos() - calls.get(0).nanos();
      assertTrue(pause >= 400_000_000L, "waited only " + pause + " ns");
    }
  }

  @Test
  void shouldPassOnARefusalWhoseDelayIsLongerThanItsTime() throws IOException {
    TestNode node = cluster.start("s1");
    cluster.refuseNext("SubmitRun", overloaded(Duration.ofMinutes(2)));
    try (BatonClient client = client(node)) {
      BatonException refused =
          assertThrows(BatonException.class, () -> client.submit(submission()));

      assertEquals(RefusalCode.OVERLOADED, refused.code());
      assertEquals(Duration.ofMinutes(2), refused.retryAfter().orElseThrow());
      assertEquals(1, cluster.calls("SubmitRun").size());
    }
  }

  @Test
  void shouldSayWhomItAskedWhenNobodyAnswers() throws IOException {
    TestNode node = cluster.start("s1");
    node.kill();
    ClientOptions options =
        ClientOptions.of(List.of(node.endpoint())).withCallTimeout(Duration.ofMillis(600));
    try (BatonClient client = new BatonClient(options)) {
      BatonException refused = assertThrows(BatonException.class, client::listNodes);

      assertTrue(refused.isUnreachable());
      assertTrue(
          refused
              .getMessage()
              .startsWith(
                  "No scheduler node at "
                      + node.endpoint()
                      + " answered within 0.6 s; the last failure: "),
          refused.getMessage());
    }
  }

  @Test
  void shouldLeaveANodeThatDoesNotAnswerInTime() throws IOException {
    TestNode stopped = cluster.start("s1");
    TestNode node = cluster.start("s2");
    stopped.silence();
    ClientOptions options =
        ClientOptions.of(List.of(stopped.endpoint(), node.endpoint()))
            .withCallTimeout(Duration.ofSeconds(3));
    try (BatonClient client = new BatonClient(options)) {
      client.submit(submission());

      assertEquals(
          List.of("s1", "s2"),
          cluster.calls("SubmitRun").stream().map(TestCluster.Call::node).toList());
    }
  }

  @Test
  void shouldServeManyCallsAtOnce() throws IOException {
    TestNode node = cluster.start("s1");
    try (BatonClient client = client(node)) {
      List<CompletableFuture<SubmitRunResponse>> answers =
          IntStream.range(0, 500).mapToObj(i -> client.submitAsync(submission())).toList();

      assertEquals(
          500, answers.stream().map(answer -> answer.join().getRunId()).distinct().count());
    }
  }

  @Test
  void shouldFailWhatIsOutWhenItIsClosed() throws IOException {
    TestNode node = cluster.start("s1");
    node.silence();
    BatonClient client = client(node);
    CompletableFuture<SubmitRunResponse> answer = client.submitAsync(submission());
    RunWatch watch = client.watch("R", change -> {});
    client.close();

    assertThrows(CompletionException.class, () -> answer.orTimeout(5, TimeUnit.SECONDS).join());
    assertThrows(
        CompletionException.class, () -> watch.ended().orTimeout(5, TimeUnit.SECONDS).join());
  }

  @Test
  void shouldFollowARunThroughTheDeathOfItsNode() throws Exception {
    TestNode first = cluster.start("s1");
    TestNode second = cluster.start("s2");
    cluster.put(run(RunState.RUN_RUNNING, TaskState.TASK_RUNNING));
    try (BatonClient client = client(first)) {
      RunWatch watch = client.watch("R", new Teller());
      assertEquals("leader s1 7", next());
      assertEquals("change RUN_RUNNING TASK_RUNNING", next());
      Awaitility.await().until(() -> client.endpoints().contains(second.endpoint()));

      cluster.lead("s2");
      first.kill();
      String reopened = next();
      assertTrue(
          reopened.startsWith(
              "reopened " + second.endpoint() + " " + first.endpoint() + " failed: "),
          reopened);
      assertEquals("leader s2 8", next());
      assertEquals("change RUN_RUNNING TASK_RUNNING", next());

      cluster.put(run(RunState.RUN_SUCCESS, TaskState.TASK_SUCCESS));
      assertEquals("change RUN_SUCCESS TASK_SUCCESS", next());
      assertEquals(
          RunState.RUN_SUCCESS, watch.ended().orTimeout(5, TimeUnit.SECONDS).join().getState());
    }
  }

  @Test
  void shouldLeaveAWatchedNodeThatFallsSilent() throws Exception {
    TestNode first = cluster.start("s1");
    TestNode second = cluster.start("s2");
    cluster.put(run(RunState.RUN_RUNNING, TaskState.TASK_RUNNING));
    ClientOptions options = ClientOptions.of(List.of(first.endpoint(), second.endpoint()));
    try (BatonClient client = new BatonClient(options);
        RunWatch watch = client.watch("R", new Teller())) {
      assertEquals("leader s1 7", next());
      assertEquals("change RUN_RUNNING TASK_RUNNING", next());
      first.silence();
      String reopened = next();
      assertTrue(reopened.contains("the node fell silent"), reopened);
      assertFalse(watch.ended().isDone());
    }
  }

  @Test
  void shouldTellOfANewLeaderWhileTheRunStandsStill() throws Exception {
    TestNode first = cluster.start("s1");
    cluster.start("s2");
    cluster.put(run(RunState.RUN_RUNNING, TaskState.TASK_RUNNING));
    try (BatonClient client = client(first);
        RunWatch watch = client.watch("R", new Teller())) {
      assertEquals("leader s1 7", next());
      assertEquals("change RUN_RUNNING TASK_RUNNING", next());
      cluster.lead("s2");
      assertEquals("leader s2 8", next());
      assertFalse(watch.ended().isDone());
    }
  }

  @Test
  void shouldEndAWatchOfARunThatIsNotThere() throws IOException {
    TestNode node = cluster.start("s1");
    try (BatonClient client = client(node)) {
      RunWatch watch = client.watch("R", change -> {});
      CompletionException failure =
          assertThrows(
              CompletionException.class, () -> watch.ended().orTimeout(5, TimeUnit.SECONDS).join());
      assertEquals(
          RefusalCode.RUN_NOT_FOUND,
          assertInstanceOf(BatonException.class, failure.getCause()).code());
    }
  }

  @Test
  void shouldKeepAWatchOpenWhileNobodyIsThere() throws Exception {
    TestNode first = cluster.start("s1");
    cluster.put(run(RunState.RUN_RUNNING, TaskState.TASK_RUNNING));
    TestNode second = cluster.start("s2");
    try (BatonClient client = client(first)) {
      client.listNodes();
      cluster.refuseNext("WatchRun", Status.UNAVAILABLE.asRuntimeException());
      cluster.refuseNext("WatchRun", overloaded(Duration.ofMillis(100)));
      RunWatch watch = client.watch("R", change -> {});
      Awaitility.await().until(() -> cluster.calls("WatchRun").size() >= 3);
      cluster.put(run(RunState.RUN_CANCELLED, TaskState.TASK_CANCELLED));
      assertEquals(
          RunState.RUN_CANCELLED, watch.ended().orTimeout(5, TimeUnit.SECONDS).join().getState());
      assertTrue(second.isUp());
    }
  }

  private String next() throws InterruptedException {
    String line = told.poll(10, TimeUnit.SECONDS);
    assertTrue(line != null, "the listener was told nothing more");
    return line == null ? "" : line;
  }

  private static BatonClient client(TestNode node) {
    return new BatonClient(ClientOptions.of(List.of(node.endpoint())));
  }

  private static SubmitRunRequest submission() {
    return SubmitRunRequest.newBuilder().setDefinition("name: test").build();
  }

  private static io.grpc.StatusRuntimeException overloaded(Duration retryAfter) {
    return TestCluster.refusal(
        Status.RESOURCE_EXHAUSTED, RefusalCode.OVERLOADED, "Too many calls wait.", retryAfter);
  }

  private static Run run(RunState state, TaskState task) {
    return Run.newBuilder()
        .setRunId("R")
        .setWorkflow("test")
        .setState(state)
        .addTasks(Task.newBuilder().setTaskId("a").setState(task))
        .build();
  }

  private final class Teller implements RunWatch.Listener {
    @Override
    public void onChange(WatchRunResponse change) {
      told.add("change " + change.getRun().getState() + " " + change.getTasks(0).getState());
    }

    @Override
    public void onLeader(String nodeId, long term) {
      told.add("leader " + nodeId + " " + term);
    }

    @Override
    public void onReopened(Endpoint endpoint, String reason) {
      told.add("reopened " + endpoint + " " + reason);
    }
  }
}
