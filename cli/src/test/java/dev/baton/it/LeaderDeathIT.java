package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The one sentence: the leader dies in the middle, everything ends, and nothing that had ended or
 * was running is run again.
 */
class LeaderDeathIT {
  private static final int RUNNING = 200;
  private static final int ROUNDS = 3;
  private static final int ASKERS = 16;

  /** The benchmark holds it to half a second; tests share their machine with others. */
  private static final Duration LOOSE = Duration.ofSeconds(4);

  @RegisterExtension
  static final TestCluster CLUSTER =
      TestCluster.of("leader-death", 3, 3, 2).workerSettings("slots=110").build();

  private final Scene scene = CLUSTER.scene();
  private String gated = "";
  private String chain = "";

  @BeforeEach
  void heal() {
    CLUSTER.heal();
  }

  /** 200 tasks run, some have ended, some wait. */
  private void begin() {
    BatonClient client = CLUSTER.client();
    Flow flow = Flow.gated("gated", RUNNING, scene);
    String[] all = new String[RUNNING];
    for (int i = 0; i < RUNNING; i++) {
      all[i] = "g" + i;
    }
    flow.shell("last", Scene.noted(":"), scene, all);
    gated = Runs.submit(client, flow);
    chain = Runs.submit(client, Flow.chain("chain", 40, scene));
    Awaitility.await("200 tasks run, some have ended")
        .atMost(TestNode.PATIENCE)
        .until(() -> {
          Ledger ledger = scene.ledger();
          return ledger.running().size() >= RUNNING && ledger.ended().size() >= 5;
        });
  }

  @AfterEach
  void end() {
    scene.close();
  }

  @Test
  void restartsNothingAfterSigkill() {
    begin();
    TestNode leader = CLUSTER.leader();
    long term = TestCluster.term(leader);
    long from = System.nanoTime();
    leader.kill();
    TestNode next = CLUSTER.leaderAfter(term);
    report("SIGKILL", from);

    assertNotEquals(leader, next);
    assertNothingRanTwice();
  }

  @Test
  void restartsNothingAfterSigterm() {
    begin();
    TestNode leader = CLUSTER.leader();
    long term = TestCluster.term(leader);
    long from = System.nanoTime();
    leader.terminate();
    TestNode next = CLUSTER.leaderAfter(term);
    report("SIGTERM", from);

    assertNotEquals(leader, next);
    assertEquals(0, leader.awaitExit());
    assertNothingRanTwice();
  }

  @Test
  void restartsNothingWhenTwoLeadersDieInARow() {
    begin();
    TestNode first = CLUSTER.leader();
    long term = TestCluster.term(first);
    first.kill();
    TestNode second = CLUSTER.leaderAfter(term);
    long secondTerm = TestCluster.term(second);
    long from = System.nanoTime();
    second.kill();
    CLUSTER.leaderAfter(secondTerm);
    report("the second SIGKILL", from);

    assertNothingRanTwice();
  }

  /** An old leader that wakes up finds that it leads no more, and nobody listens to it. */
  @Test
  void restartsNothingWhenTheLeaderSleepsPastItsLeaseAndWakesUp() {
    begin();
    TestNode leader = CLUSTER.leader();
    long term = TestCluster.term(leader);
    long from = System.nanoTime();
    leader.pause();
    TestNode next = CLUSTER.leaderAfter(term);
    report("SIGSTOP", from);
    String later =
        Runs.submit(CLUSTER.client(), Flow.named("later").shell("l", Scene.noted(":"), scene));
    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(CLUSTER.client(), later).getState());

    leader.resume();
    leader.awaitReady();
    assertEquals("standby", leader.status().path("role").asText());
    assertEquals(next.id(), leader.status().path("leader").asText());
    assertEquals(next, CLUSTER.leader());
    TestCluster.measured(
        "messages that workers dropped so far: "
            + CLUSTER.workers().stream()
                .mapToDouble(worker -> worker.metric("worker_messages_dropped_total"))
                .sum());

    assertNothingRanTwice();
  }

  /** Results that nobody heard wait in the worker, and count once when somebody does. */
  @Test
  void acceptsOnceWhatEndedWhileNoSchedulerListened() {
    begin();
    TestNode leader = CLUSTER.leader();
    long term = TestCluster.term(leader);
    List<TestNode> others = CLUSTER.standbys();
    CLUSTER.schedulers().forEach(TestNode::pause);
    scene.openGate();
    Awaitility.await("200 tasks end")
        .atMost(TestNode.PATIENCE)
        .until(() ->
            scene.ledger().ended().stream().filter(key -> key.task().startsWith("g")).count()
                == RUNNING);
    leader.kill();
    others.forEach(TestNode::resume);
    CLUSTER.leaderAfter(term);

    assertEndedOnce(awaitEnd(gated));
    assertEndedOnce(awaitEnd(chain));
  }

  /** From the signal to a worker's receipt of the first task that the next leader assigned. */
  @Test
  void hasTheNextLeaderAssignTasksSoonAfterOneResigns() {
    Flow flow = Flow.named("load");
    for (int i = 0; i < 5; i++) {
      String[] before = i == 0 ? new String[0] : new String[] {"e" + (i - 1)};
      flow.task("e" + i, "echo", Map.of("i", i), before);
    }
    try (Load load = Load.start(CLUSTER.client(), flow, 16);
        Store store = new Store(CLUSTER)) {
      for (int round = 1; round <= ROUNDS; round++) {
        awaitProgress(load);
        TestNode leader = CLUSTER.leader();
        long term = TestCluster.term(leader);
        long signal = System.nanoTime();
        leader.terminate();
        long next = TestCluster.term(CLUSTER.leaderAfter(term));
        long nanos = firstReceipt(store, next) - signal;
        TestCluster.measured(
            "SIGTERM under load, round "
                + round
                + ": first new assignment after "
                + seconds(nanos));
        assertTrue(nanos < LOOSE.toNanos(), "the fail-over took " + seconds(nanos));
        assertEquals(0, leader.awaitExit());
        leader.start();
        leader.awaitReady();
      }
      load.stop();
      assertAllRanOnce(load.acknowledged());
    }
  }

  /** Tens of thousands, so many are asked for at once. */
  private static void assertAllRanOnce(Set<String> runs) {
    try (ExecutorService askers =
        Executors.newFixedThreadPool(ASKERS, Thread.ofVirtual().factory())) {
      List<CompletableFuture<Void>> asked =
          runs.stream()
              .map(run -> CompletableFuture.runAsync(() -> assertRanOnce(run), askers))
              .toList();
      asked.forEach(CompletableFuture::join);
    }
  }

  private static void assertRanOnce(String run) {
    Run ended = Runs.get(CLUSTER.client(), run);
    assertEquals(RunState.RUN_SUCCESS, ended.getState(), ended.getReason());
    assertTrue(ended.getTasksList().stream().allMatch(task -> task.getAttemptsCount() == 1));
  }

  private static void awaitProgress(Load load) {
    int before = load.acknowledged().size();
    Awaitility.await("the load goes on")
        .atMost(TestNode.PATIENCE)
        .until(() -> load.acknowledged().size() >= before + 100);
  }

  private static long firstReceipt(Store store, long term) {
    return Awaitility.await("an assignment of term " + term)
        .atMost(TestNode.PATIENCE)
        .until(
            () -> {
              long entry = store.firstEntries().getOrDefault(term, Long.MAX_VALUE);
              return CLUSTER.workers().stream()
                  .map(worker -> Receipts.read(CLUSTER.trace(worker)).first(term, entry))
                  .flatMapToLong(OptionalLong::stream)
                  .min();
            },
            OptionalLong::isPresent)
        .orElseThrow();
  }

  /** The chain ends under the new leader; only then may the 200 go on. */
  private void assertNothingRanTwice() {
    Run chained = awaitEnd(chain);
    assertEquals(RUNNING, scene.ledger().running().size());
    long from = System.nanoTime();
    scene.openGate();
    Run ended = awaitEnd(gated);
    TestCluster.measured(
        "200 waiting shell tasks ended within " + seconds(System.nanoTime() - from));

    assertTrue(scene.ledger().running().isEmpty(), "still running");
    assertEndedOnce(chained);
    assertEndedOnce(ended);
  }

  /** Fails at once when the ledger shows a fault: a run that is damaged may never end. */
  private Run awaitEnd(String run) {
    Awaitility.await("the run has ended")
        .atMost(TestNode.PATIENCE)
        .until(() -> {
          assertEquals(List.of(), scene.ledger().faults());
          return Runs.summary(CLUSTER.client(), run).getState() != RunState.RUN_RUNNING;
        });
    return Runs.get(CLUSTER.client(), run);
  }

  private void assertEndedOnce(Run run) {
    Ledger ledger = scene.ledger();
    assertEquals(List.of(), ledger.faults());
    assertEquals(RunState.RUN_SUCCESS, run.getState(), run.getReason());
    assertEquals(
        List.of(),
        run.getTasksList().stream()
            .filter(task -> task.getAttemptsCount() != 1)
            .map(Task::getTaskId)
            .toList());
    assertEquals(
        run.getTasksList().stream().map(Task::getTaskId).collect(Collectors.toSet()),
        ledger.ended().stream()
            .filter(key -> key.run().equals(run.getRunId()))
            .map(Ledger.TaskKey::task)
            .collect(Collectors.toSet()));
  }

  private static void report(String what, long fromNanos) {
    TestCluster.measured(
        what + " of the leader: another leads after " + seconds(System.nanoTime() - fromNanos));
  }

  private static String seconds(long nanos) {
    return Duration.ofNanos(nanos).toMillis() / 1000.0 + " s";
  }
}
