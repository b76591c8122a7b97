package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.Worker;
import dev.baton.proto.v1.Worker.Presence;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Workers that die, join, come back, drain, and ids that are taken. */
class WorkersIT {
  private static final int SLOTS = 8;

  @RegisterExtension
  static final TestCluster CLUSTER =
      TestCluster.of("workers", 1, 1, 2).workerSettings("slots=" + SLOTS).build();

  private final Scene scene = CLUSTER.scene();
  private final BatonClient client = CLUSTER.client();

  @BeforeEach
  void begin() {
    CLUSTER.heal();
    awaitConnected(2);
  }

  @AfterEach
  void end() {
    scene.close();
  }

  @Test
  void leavesNoProcessWhenAWorkerIsKilledAndRunsItsAttemptsElsewhere() {
    TestNode dying = CLUSTER.node("w1");
    String run = Runs.submit(client, Flow.gated("killed", 6, scene));
    awaitRunning(6);
    List<String> lost = tasksOn(run, "w1");
    assertFalse(lost.isEmpty(), "w1 got nothing to run");
    assertTrue(lost.stream().noneMatch(task -> Signals.ofTask(run, task).isEmpty()));

    long from = System.nanoTime();
    dying.kill();
    // They wait for the gate, so none ends by itself.
    Awaitility.await("the commands are gone")
        .atMost(TestNode.PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> lost.stream().allMatch(task -> Signals.ofTask(run, task).isEmpty()));
    TestCluster.measured("commands of a killed worker: gone after " + millis(from));

    Awaitility.await("the lost attempts run elsewhere")
        .atMost(TestNode.PATIENCE)
        .until(() -> tasksOn(run, "w2").size() == 6);
    TestCluster.measured("attempts of a killed worker: run elsewhere after " + millis(from));
    scene.openGate();
    Run ended = Runs.awaitEnd(client, run);
    assertEquals(RunState.RUN_SUCCESS, ended.getState());
    for (Task task : ended.getTasksList()) {
      List<AttemptOutcome> expected =
          lost.contains(task.getTaskId())
              ? List.of(AttemptOutcome.ATTEMPT_LOST, AttemptOutcome.ATTEMPT_SUCCESS)
              : List.of(AttemptOutcome.ATTEMPT_SUCCESS);
      assertEquals(expected, outcomes(task), task.getTaskId());
      if (lost.contains(task.getTaskId())) {
        String reason = task.getAttempts(0).getReason();
        assertTrue(reason.contains("its port refuses connections"), reason);
      }
    }
    assertEquals(Set.copyOf(lost), restarted(scene.ledger()));
  }

  @Test
  void givesWaitingTasksToAWorkerThatJoinsLate() {
    String run = Runs.submit(client, Flow.gated("late", 2 * SLOTS + 4, scene));
    awaitRunning(2 * SLOTS);
    Run waiting = Runs.get(client, run);
    assertEquals(4, waiting.getCounts().getReady());
    assertTrue(
        waiting.getTasksList().stream()
            .filter(task -> task.getState() == TaskState.TASK_READY)
            .noneMatch(task -> task.getWaitReason().isEmpty()));

    TestNode late = CLUSTER.newWorker("w3");
    late.start();
    try {
      awaitRunning(2 * SLOTS + 4);
      assertEquals(4, tasksOn(run, "w3").size());
      scene.openGate();
      assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, run).getState());
      assertEquals(List.of(), scene.ledger().faults());
    } finally {
      late.terminate();
      assertEquals(0, late.awaitExit());
    }
  }

  /** It takes its id over when the lease of the one before it has run out. */
  @Test
  void runsLostAttemptsAgainWhenAWorkerIsStartedAnewUnderItsId() {
    TestNode worker = CLUSTER.node("w1");
    String run = Runs.submit(client, Flow.gated("anew", 2 * SLOTS, scene));
    awaitRunning(2 * SLOTS);
    String incarnation = incarnation("w1");
    List<String> lost = tasksOn(run, "w1");
    assertEquals(SLOTS, lost.size());

    worker.kill();
    worker.start();
    worker.awaitReady();
    // The other worker is full: it must be this one.
    Awaitility.await("the lost attempts run again")
        .atMost(TestNode.PATIENCE)
        .until(() ->
            Runs.get(client, run).getTasksList().stream()
                .filter(task -> lost.contains(task.getTaskId()))
                .allMatch(task -> task.getAttemptsCount() == 2));
    assertFalse(incarnation.equals(incarnation("w1")), "the incarnation is the old one");
    assertEquals(Set.copyOf(lost), Set.copyOf(tasksOn(run, "w1")));

    scene.openGate();
    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, run).getState());
    assertEquals(Set.copyOf(lost), restarted(scene.ledger()));
  }

  @Test
  void refusesASecondWorkerUnderALiveId() {
    TestNode second = CLUSTER.newWorker("w1");
    assertRefused(second, "worker id 'w1' is in use", CLUSTER.node("w1"));
    assertEquals("w1", CLUSTER.node("w1").status().path("id").asText());
  }

  @Test
  void refusesASecondSchedulerUnderALiveId() {
    TestNode second = CLUSTER.newScheduler("s1");
    assertRefused(second, "scheduler id 's1' is in use", CLUSTER.node("s1"));
    assertTrue(CLUSTER.node("s1").status().path("ok").asBoolean());
  }

  @Test
  void endsWhatRunsBeforeAWorkerThatWasAskedToEndIsGone() {
    assertDrains(CLUSTER.node("w1")::terminate, "draining: ");
  }

  @Test
  void endsADrainedWorkerWhenItIsDoneAndGivesItNothingUntilItIsInServiceAgain() {
    assertDrains(
        () -> {
          client.cordon(
              CordonWorkerRequest.newBuilder()
                  .setWorkerId("w1")
                  .setDrain(true)
                  .setActor("ann")
                  .build());
          assertTrue(worker("w1").getDraining());
          assertEquals("ann", worker("w1").getCordonedBy());
        },
        "asked to drain: ");
    TestNode leaving = CLUSTER.node("w1");
    assertTrue(leaving.logText().contains("drained, as an operator asked"), leaving.logText());
    Awaitility.await("w1 has left")
        .atMost(TestNode.PATIENCE)
        .until(() -> worker("w1").getPresence() == Presence.ABSENT);

    leaving.start();
    leaving.awaitReady();
    assertTrue(worker("w1").getCordoned());
    assertFalse(worker("w1").getDraining());
    try (Scene second = CLUSTER.scene()) {
      String waiting = Runs.submit(client, Flow.gated("beside-a-cordon", SLOTS + 1, second));
      Awaitility.await("w2 is full")
          .atMost(TestNode.PATIENCE)
          .until(() -> tasksOn(waiting, "w2").size() == SLOTS);
      assertEquals(List.of(), tasksOn(waiting, "w1"));
      Awaitility.await("the one that waits is counted")
          .atMost(TestNode.PATIENCE)
          .until(
              () -> CLUSTER.leader().metric("baton_tasks_waiting{reason=\"workers_full\"}") == 1);
      client.uncordon(UncordonWorkerRequest.newBuilder().setWorkerId("w1").build());
      Awaitility.await("w1 is in service")
          .atMost(TestNode.PATIENCE)
          .until(() -> tasksOn(waiting, "w1").size() == 1);
      second.openGate();
      assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, waiting).getState());
    }
    assertEquals(List.of(), scene.ledger().faults());
  }

  /** What w1 runs ends before its process does, and what comes meanwhile goes to w2. */
  private void assertDrains(Runnable order, String said) {
    TestNode leaving = CLUSTER.node("w1");
    String before = Runs.submit(client, Flow.gated("before-a-drain", 6, scene));
    awaitRunning(6);
    assertFalse(tasksOn(before, "w1").isEmpty(), "w1 got nothing to run");

    order.run();
    Awaitility.await("w1 drains")
        .atMost(TestNode.PATIENCE)
        .until(() -> leaving.logText().contains(said));
    String after = Runs.submit(client, Flow.gated("beside-a-drain", 2, scene));
    awaitRunning(8);
    assertEquals(2, tasksOn(after, "w2").size());
    assertTrue(leaving.isAlive());

    scene.openGate();
    for (String run : List.of(before, after)) {
      Run ended = Runs.awaitEnd(client, run);
      assertEquals(RunState.RUN_SUCCESS, ended.getState());
      assertTrue(ended.getTasksList().stream().allMatch(task -> task.getAttemptsCount() == 1));
    }
    assertEquals(0, leaving.awaitExit());
    assertEquals(List.of(), scene.ledger().faults());
  }

  private void assertRefused(TestNode second, String what, TestNode first) {
    second.start();
    try {
      assertEquals(3, second.awaitExit());
      String log = second.logText();
      String sentence =
          log.lines().filter(line -> line.contains(what)).reduce((a, b) -> b).orElse(log);
      assertTrue(sentence.contains(first.httpAddress()), sentence);
      assertTrue(sentence.contains("stop that process or choose another id (--id)"), sentence);
    } finally {
      second.close();
    }
  }

  private void awaitRunning(int count) {
    Awaitility.await(count + " tasks run")
        .atMost(TestNode.PATIENCE)
        .until(() -> scene.ledger().running().size() >= count);
  }

  private void awaitConnected(int count) {
    Awaitility.await(count + " workers are connected")
        .atMost(TestNode.PATIENCE)
        .until(() ->
            client.listWorkers().getWorkersList().stream()
                    .filter(w -> w.getPresence() == Presence.CONNECTED)
                    .count()
                == count);
  }

  private String incarnation(String worker) {
    return worker(worker).getIncarnation();
  }

  private Worker worker(String id) {
    return client.listWorkers().getWorkersList().stream()
        .filter(each -> each.getWorkerId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  /** Tasks whose newest attempt runs there. */
  private List<String> tasksOn(String runId, String worker) {
    return Runs.get(client, runId).getTasksList().stream()
        .filter(task -> task.getState() == TaskState.TASK_RUNNING)
        .filter(task -> task.getAttempts(task.getAttemptsCount() - 1).getWorkerId().equals(worker))
        .map(Task::getTaskId)
        .toList();
  }

  private static List<AttemptOutcome> outcomes(Task task) {
    return task.getAttemptsList().stream().map(Attempt::getOutcome).toList();
  }

  /** Tasks that started again while they ran, which nothing but a lost worker explains. */
  private static Set<String> restarted(Ledger ledger) {
    assertTrue(
        ledger.faults().stream().allMatch(f -> f.kind() == Ledger.Kind.STARTED_WHILE_RUNNING),
        () -> "unexpected: " + ledger.faults());
    return ledger.faults().stream()
        .map(fault -> fault.text().split(" ", -1)[2])
        .collect(Collectors.toSet());
  }

  private static String millis(long fromNanos) {
    return Duration.ofNanos(System.nanoTime() - fromNanos).toMillis() + " ms";
  }
}
