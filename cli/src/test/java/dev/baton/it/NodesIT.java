package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunResponse;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Any node takes calls, and one that was away comes back. */
class NodesIT {
  private static final int ENTRIES = 400;

  @RegisterExtension
  static final TestCluster CLUSTER =
      TestCluster.of("nodes", 1, 3, 1)
          .schedulerSettings("leaderTtl=2s", "snapshot.entries=150")
          .build();

  private final Flow echo = Flow.named("echo").task("e", "echo", Map.of("a", 1));

  @BeforeEach
  void begin() {
    CLUSTER.heal();
  }

  @Test
  void takesSubmissionsAndReadsOnEveryNode() {
    for (TestNode entry : CLUSTER.schedulers()) {
      SubmitRunResponse submitted = CLUSTER.stub(entry).submitRun(echo.request());
      for (TestNode reader : CLUSTER.schedulers()) {
        Run run = read(reader, submitted);
        assertEquals("echo", run.getWorkflow());
        assertEquals(1, run.getTasksCount());
      }
    }
  }

  @Test
  void keepsASubmissionWaitingUntilSomebodyLeads() {
    TestNode leader = CLUSTER.leader();
    List<TestNode> others = CLUSTER.standbys();
    leader.kill();
    long from = System.nanoTime();
    SubmitRunResponse submitted = CLUSTER.stub(others.getFirst()).submitRun(echo.request());
    TestCluster.measured(
        "a submission to a standby just after the leader's death: acknowledged after "
            + Duration.ofNanos(System.nanoTime() - from).toMillis()
            + " ms");
    assertEquals(
        RunState.RUN_SUCCESS, Runs.awaitEnd(CLUSTER.client(), submitted.getRunId()).getState());
  }

  @Test
  void tellsAFailoverInAtMostTenLines() {
    TestNode leader = CLUSTER.leader();
    List<TestNode> others = CLUSTER.standbys();
    List<Long> before = others.stream().map(node -> node.logText().lines().count()).toList();
    leader.kill();
    TestNode next = CLUSTER.leader();
    submitAndEnd();
    for (int i = 0; i < others.size(); i++) {
      TestNode node = others.get(i);
      List<String> told = node.logText().lines().skip(before.get(i)).toList();
      assertTrue(told.size() <= 10, () -> String.join("\n", told));
      String term = " term=" + node.status().path("term").asLong();
      String story = node == next ? "Took over as leader" : "Node " + next + " leads in term";
      assertTrue(
          told.stream().anyMatch(line -> line.contains(story) && line.contains(term)),
          () -> story + term + " is missing in\n" + String.join("\n", told));
    }
  }

  @Test
  void needsNoMoreThanOneLiveAddress() {
    TestNode only = CLUSTER.standbys().getFirst();
    TestNode dead = CLUSTER.newScheduler("never");
    BatonClient client = CLUSTER.client(dead, only);
    String first = Runs.submit(client, echo);
    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, first).getState());
    Awaitility.await("the client knows the others")
        .atMost(TestNode.PATIENCE)
        .until(() -> client.endpoints().size() == 4);

    only.kill();
    String second = Runs.submit(client, echo);
    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, second).getState());
    assertEquals(first, Runs.get(client, first).getRunId());
  }

  @Test
  void leadsAfterItWasDownForHundredsOfEntries() {
    TestNode away = CLUSTER.standbys().getFirst();
    String before = submitAndEnd();
    away.kill();
    String meanwhile = passEntries();
    long from = System.nanoTime();
    away.start();
    away.awaitReady();
    report("a node that was down", from);
    assertLeads(away, before, meanwhile);
  }

  @Test
  void leadsAfterItStoodStillForHundredsOfEntries() {
    TestNode away = CLUSTER.standbys().getFirst();
    String before = submitAndEnd();
    away.pause();
    String meanwhile = passEntries();
    long from = System.nanoTime();
    away.resume();
    Awaitility.await(away + " catches up")
        .atMost(TestNode.PATIENCE)
        .until(() -> seq(away) >= seq(CLUSTER.leader()) && away.status().path("ok").asBoolean());
    report("a node that stood still", from);
    assertLeads(away, before, meanwhile);
  }

  @Test
  void answersTheStandardHealthAndReflectionServices() throws Exception {
    for (TestNode node : CLUSTER.schedulers()) {
      assertEquals(
          ServingStatus.SERVING,
          HealthGrpc.newBlockingStub(CLUSTER.channel(node))
              .withDeadlineAfter(10, TimeUnit.SECONDS)
              .check(HealthCheckRequest.getDefaultInstance())
              .getStatus());
      List<String> services = services(node);
      assertTrue(services.contains("baton.v1.BatonService"), services.toString());
      assertTrue(services.contains("baton.v1.WorkflowService"), services.toString());
      assertTrue(services.contains("grpc.health.v1.Health"), services.toString());
    }
  }

  /** All others die; it takes over, knows what was before and meanwhile, and goes on. */
  private void assertLeads(TestNode node, String before, String meanwhile) {
    CLUSTER.schedulers().stream().filter(other -> other != node).forEach(TestNode::kill);
    CLUSTER.leader();
    assertEquals("leading", node.status().path("role").asText());
    BatonClient client = CLUSTER.client(node);
    for (String run : List.of(before, meanwhile, submitAndEnd())) {
      Run found = Runs.get(client, run);
      assertEquals(RunState.RUN_SUCCESS, found.getState());
      assertEquals(1, found.getTasksCount());
    }
  }

  private String submitAndEnd() {
    String run = Runs.submit(CLUSTER.client(), echo);
    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(CLUSTER.client(), run).getState());
    return run;
  }

  /** Lets so many entries pass that the journal is cut behind them; returns one of the runs. */
  private String passEntries() {
    TestNode leader = CLUSTER.leader();
    long start = seq(leader);
    String run = submitAndEnd();
    while (seq(leader) < start + ENTRIES) {
      run = submitAndEnd();
    }
    try (Store store = new Store(CLUSTER)) {
      Awaitility.await("the journal is cut")
          .atMost(TestNode.PATIENCE)
          .until(() -> {
            // A leader whose standby does not answer takes the snapshot itself, at its next entry.
            submitAndEnd();
            return store.count(store.keys().journal()) < ENTRIES;
          });
    }
    return run;
  }

  private static Run read(TestNode node, SubmitRunResponse submitted) {
    return CLUSTER
        .stub(node)
        .getRun(
            GetRunRequest.newBuilder()
                .setRunId(submitted.getRunId())
                .setMinSeq(submitted.getSeq())
                .build())
        .getRun();
  }

  private static List<String> services(TestNode node) throws Exception {
    CompletableFuture<List<String>> answer = new CompletableFuture<>();
    StreamObserver<ServerReflectionRequest> call =
        ServerReflectionGrpc.newStub(CLUSTER.channel(node))
            .withDeadlineAfter(10, TimeUnit.SECONDS)
            .serverReflectionInfo(
                new StreamObserver<ServerReflectionResponse>() {
                  @Override
                  public void onNext(ServerReflectionResponse response) {
                    answer.complete(
                        new ArrayList<>(
                            response.getListServicesResponse().getServiceList().stream()
                                .map(ServiceResponse::getName)
                                .toList()));
                  }

                  @Override
                  public void onError(Throwable failure) {
                    answer.completeExceptionally(failure);
                  }

                  @Override
                  public void onCompleted() {}
                });
    call.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    List<String> services = answer.get(10, TimeUnit.SECONDS);
    call.onCompleted();
    return services;
  }

  private static long seq(TestNode node) {
    return node.status().path("seq").asLong();
  }

  private static void report(String what, long fromNanos) {
    TestCluster.measured(
        what
            + " has caught up after "
            + Duration.ofNanos(System.nanoTime() - fromNanos).toMillis()
            + " ms");
  }
}
