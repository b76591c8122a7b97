package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** etcd is gone for a while; everything is gone at once. */
class OutageIT {
  private static final Duration SETTLE = Duration.ofSeconds(5);
  private static final Duration MEASURE = Duration.ofSeconds(15);

  /** The aim is 3; tests share their machine with others, whose load makes all work dearer. */
  private static final double LOOSE_PERCENT = 15;

  private static final int RUNNING = 12;

  /** Runs before the outage, and seconds. */
  private static final int RUNS_BEFORE = 2_000;

  private static final int SECONDS_BEFORE = Integer.getInteger("baton.it.secondsBeforeOutage", 0);

  @RegisterExtension static final TestCluster CLUSTER = TestCluster.of("outage", 3, 3, 2).build();

  private final Scene scene = CLUSTER.scene();
  private final BatonClient client = CLUSTER.client();

  @BeforeEach
  void begin() {
    CLUSTER.heal();
  }

  @AfterEach
  void end() {
    scene.close();
  }

  @Test
  void goesOnByItselfWhenEtcdComesBack() {
    // What a machine that has just started still compiles is not what an outage costs.
    try (Load load = Load.start(client, Flow.named("echo").task("e", "echo", Map.of("a", 1)), 8)) {
      pass(Duration.ofSeconds(SECONDS_BEFORE));
      Awaitility.await("the cluster has been in service")
          .atMost(TestNode.PATIENCE)
          .until(() -> load.acknowledged().size() >= RUNS_BEFORE);
      load.stop();
    }
    String gated = Runs.submit(client, Flow.gated("gated", RUNNING, scene));
    String chain = Runs.submit(client, Flow.chain("chain", 30, scene));
    awaitInTheMiddle();
    List<Long> pids = nodes().map(TestNode::pid).toList();
    TestNode standby = CLUSTER.standbys().getFirst();

    members().forEach(CLUSTER.etcd()::kill);
    pass(SETTLE);
    Map<String, Duration> before = cpu();
    pass(MEASURE);
    Map<String, Duration> after = cpu();
    assertAnswersFromMemory(standby, gated);
    // What ends now is told to nobody yet.
    scene.openGate();
    Awaitility.await("all tasks end without etcd")
        .atMost(TestNode.PATIENCE)
        .until(() ->
            scene.ledger().ended().stream().filter(key -> key.run().equals(gated)).count()
                == RUNNING);
    long from = System.nanoTime();
    members().forEach(CLUSTER.etcd()::start);

    for (String run : List.of(gated, chain)) {
      Run ended = Runs.awaitEnd(client, run);
      assertEquals(RunState.RUN_SUCCESS, ended.getState(), ended.getReason());
      assertTrue(ended.getTasksList().stream().allMatch(task -> task.getAttemptsCount() == 1));
    }
    TestCluster.measured("all runs ended " + seconds(from) + " after etcd was started again");
    assertEquals(List.of(), scene.ledger().faults());
    assertEquals(pids, nodes().map(TestNode::pid).toList());
    before.forEach((id, used) -> assertIdle(id, after.getOrDefault(id, used).minus(used)));
  }

  @Test
  void losesNothingThatWasAcknowledgedWhenEverythingIsKilled() {
    String gated = Runs.submit(client, Flow.gated("gated", RUNNING, scene));
    String chain = Runs.submit(client, Flow.chain("chain", 30, scene));
    Flow echo = Flow.named("echo").task("e", "echo", Map.of("a", 1));
    try (Load load = Load.start(client, echo, 8)) {
      awaitInTheMiddle();
      Awaitility.await("a hundred runs are acknowledged")
          .atMost(TestNode.PATIENCE)
          .until(() -> load.acknowledged().size() >= 100);
      Set<Ledger.TaskKey> ended = succeeded(chain);

      nodes().forEach(TestNode::close);
      members().forEach(CLUSTER.etcd()::kill);
      Set<String> acknowledged = load.acknowledged();
      nodes().forEach(TestNode::awaitExit);
      long from = System.nanoTime();
      members().forEach(CLUSTER.etcd()::start);
      CLUSTER.heal();
      TestCluster.measured(
          "everything killed: ready " + seconds(from) + " after the first process was started");
      scene.openGate();

      assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, gated).getState());
      assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, chain).getState());
      TestCluster.measured("everything killed: all runs ended after " + seconds(from));
      load.stop();
      assertTrue(load.acknowledged().containsAll(acknowledged));
      for (String run : load.acknowledged()) {
        assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, run).getState(), run);
      }
      Ledger ledger = scene.ledger();
      for (Ledger.TaskKey task : ended) {
        assertEquals(1, ledger.starts(task).size(), "runs of " + task);
      }
    }
  }

  private void awaitInTheMiddle() {
    Awaitility.await("tasks run, some have ended")
        .atMost(TestNode.PATIENCE)
        .until(() -> {
          Ledger ledger = scene.ledger();
          return ledger.running().size() >= RUNNING && ledger.ended().size() >= 3;
        });
  }

  /** A standby that is cut off from etcd tells what it knows, and how old that is. */
  private void assertAnswersFromMemory(TestNode standby, String run) {
    GetRunResponse answer =
        CLUSTER.stub(standby).getRun(GetRunRequest.newBuilder().setRunId(run).build());
    assertEquals(RunState.RUN_RUNNING, answer.getRun().getState());
    assertEquals(RUNNING, answer.getRun().getTasksCount());
    assertTrue(
        answer.getStalenessMs() >= MEASURE.toMillis(), "staleness " + answer.getStalenessMs());
  }

  private void assertIdle(String id, Duration used) {
    double percent = 100.0 * used.toNanos() / MEASURE.toNanos();
    TestCluster.measured("without etcd %s used %.1f %% of a core".formatted(id, percent));
    assertTrue(percent < LOOSE_PERCENT, id + " used " + percent + " % of a core");
  }

  /** Tasks whose success was told. */
  private Set<Ledger.TaskKey> succeeded(String run) {
    return Runs.get(client, run).getTasksList().stream()
        .filter(task -> task.getState() == TaskState.TASK_SUCCESS)
        .map(Task::getTaskId)
        .map(task -> new Ledger.TaskKey(run, task))
        .collect(Collectors.toSet());
  }

  private static Map<String, Duration> cpu() {
    Map<String, Duration> used = new LinkedHashMap<>();
    nodes().forEach(node -> used.put(node.id(), node.cpu()));
    return used;
  }

  private static Stream<TestNode> nodes() {
    return Stream.concat(CLUSTER.schedulers().stream(), CLUSTER.workers().stream());
  }

  private static List<Integer> members() {
    return IntStream.range(0, CLUSTER.etcd().size()).boxed().toList();
  }

  /** Here time itself is what is tested: an outage lasts. */
  private static void pass(Duration time) {
    try {
      var ignored = new CountDownLatch(1).await(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String seconds(long fromNanos) {
    return Duration.ofNanos(System.nanoTime() - fromNanos).toMillis() / 1000.0 + " s";
  }
}
