package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.Worker;
import dev.baton.proto.v1.Worker.Presence;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Workers in other languages, which know one scheduler node and have no way to etcd. */
class LanguagesIT {
  private static final int TEXTS = 200;

  /** Longer than a registration stands that nobody renews. */
  private static final Duration PAST_THE_LEASE = Duration.ofSeconds(12);

  @RegisterExtension
  static final TestCluster CLUSTER =
      TestCluster.of("languages", 1, 3, 1).workerSettings("capabilities=echo").build();

  private final BatonClient client = CLUSTER.client();

  @BeforeEach
  void heal() {
    CLUSTER.heal();
  }

  @AfterEach
  void inService() {
    client.listWorkers().getWorkersList().stream()
        .filter(Worker::getCordoned)
        .forEach(worker ->
            client.uncordon(
                UncordonWorkerRequest.newBuilder().setWorkerId(worker.getWorkerId()).build()));
  }

  /** Starts it; it is told the leader's address and no other. */
  private TestNode started(String id, BiFunction<String, String, List<String>> command) {
    TestNode worker = CLUSTER.foreignWorker(id, command.apply(id, CLUSTER.leader().apiAddress()));
    worker.start();
    awaitPresence(id, Presence.CONNECTED);
    return worker;
  }

  private Optional<Worker> find(String id) {
    return client.listWorkers().getWorkersList().stream()
        .filter(worker -> worker.getWorkerId().equals(id))
        .findFirst();
  }

  private void awaitPresence(String id, Presence presence) {
    Awaitility.await(id + " is " + presence)
        .atMost(TestNode.PATIENCE)
        .until(() -> find(id).filter(worker -> worker.getPresence() == presence).isPresent());
  }

  /** Python counts the words of each text, Go finds the nearest of two by that, Java tells it. */
  private static Flow counts(String name, int count) {
    Flow flow = Flow.named(name);
    for (int i = 0; i < count; i++) {
      String words = "tasks.count" + i + ".output.words";
      flow.task(
          "count" + i,
          "text_process",
          Map.of("operation", "word_count", "text", "one two two " + "three ".repeat(i)));
      flow.task(
          "search" + i,
          "search",
          Map.of(
              "query",
              "${{ [1.0, double(" + words + ")] }}",
              "documents",
              List.of(
                  Map.of("id", "flat", "vector", List.of(1, 0)),
                  Map.of("id", "steep", "vector", List.of(1, i + 3)))),
          "count" + i);
      flow.task(
          "told" + i,
          "echo",
          Map.of("nearest", "${{ tasks.search" + i + ".output.hits[0].id }}"),
          "search" + i);
    }
    return flow;
  }

  private void awaitSome(String run) {
    Awaitility.await("some have ended")
        .atMost(TestNode.PATIENCE)
        .until(() -> Runs.summary(client, run).getCounts().getSuccess() > 10);
  }

  /** The node through which the workers have registered is the leader, and dies in the middle. */
  @Test
  void runsOneWorkflowInThreeLanguagesWhileTheLeaderDies() {
    try (TestNode python = started("py", ForeignWorkers::python);
        TestNode go = started("go", ForeignWorkers::go)) {
      Set<String> incarnations = incarnations("py", "go");
      String run = Runs.submit(client, counts("languages", TEXTS));
      awaitSome(run);
      CLUSTER.leader().kill();
      Run ended = Runs.awaitEnd(client, run);
      assertEquals(RunState.RUN_SUCCESS, ended.getState());
      assertEquals(
          List.of(),
          ended.getTasksList().stream().filter(task -> task.getAttemptsCount() != 1).toList());
      assertEquals("{\"nearest\":\"steep\"}", Runs.output(client, run, "told" + (TEXTS - 1)));

      Awaitility.await("others renew what the dead node has granted")
          .during(PAST_THE_LEASE)
          .atMost(TestNode.PATIENCE)
          .until(() -> incarnations("py", "go").equals(incarnations));
      assertTrue(python.isAlive() && go.isAlive());
    }
  }

  /** Of the workers that are registered. */
  private Set<String> incarnations(String... ids) {
    return Stream.of(ids)
        .flatMap(id -> find(id).stream())
        .filter(worker -> worker.getPresence() != Presence.UNREGISTERED)
        .map(Worker::getIncarnation)
        .collect(Collectors.toSet());
  }

  @Test
  void drainsPythonByOrderAndAtSigterm() {
    assertDrains(ForeignWorkers::python);
  }

  @Test
  void drainsGoByOrderAndAtSigterm() {
    assertDrains(ForeignWorkers::go);
  }

  private void assertDrains(BiFunction<String, String, List<String>> command) {
    try (TestNode worker = started("drained", command)) {
      client.cordon(CordonWorkerRequest.newBuilder().setWorkerId("drained").setDrain(true).build());
      assertEquals(0, worker.awaitExit());
      assertEquals(Presence.ABSENT, find("drained").orElseThrow().getPresence());
    }
    try (TestNode worker = started("terminated", command)) {
      worker.terminate();
      assertEquals(0, worker.awaitExit());
      assertTrue(find("terminated").isEmpty(), "it has given its id back");
    }
  }

  @Test
  void leavesAnIdToTheProcessThatHasIt() {
    try (TestNode first = started("taken", ForeignWorkers::python);
        TestNode second =
            CLUSTER.foreignWorker(
                "taken", ForeignWorkers.go("taken", CLUSTER.leader().apiAddress()))) {
      second.start();
      assertEquals(1, second.awaitExit());
      assertTrue(second.logText().contains("choose another id"), second.logText());
      assertTrue(first.isAlive());
    }
  }

  @Test
  void runsElsewhereWhatAKilledWorkerHeld() {
    try (TestNode go = started("go", ForeignWorkers::go);
        TestNode dying = started("dying", ForeignWorkers::python)) {
      String run = Runs.submit(client, counts("killed", TEXTS));
      awaitSome(run);
      dying.kill();
      try (TestNode next = started("next", ForeignWorkers::python)) {
        assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, run).getState());
        assertTrue(next.isAlive() && go.isAlive());
      }
    }
  }
}
