package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One death of a leader in the middle of many things; each test looks at one of them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AcrossAFailoverIT {
  private static final int OUTPUT_BYTES = 100 << 10;
  private static final long DELAY_MILLIS = 5000;

  @RegisterExtension
  static final TestCluster CLUSTER =
      TestCluster.of("across-a-failover", 1, 3, 1).schedulerSettings("leaderTtl=2s").build();

  private Scene scene;
  private BatonClient client;
  private SubmitRunRequest keyed;
  private String keyedRun = "";
  private String retried = "";
  private String passing = "";
  private String cancelled = "";

  @BeforeAll
  void killTheLeaderInTheMiddle() {
    scene = CLUSTER.scene();
    client = CLUSTER.client();
    keyed =
        Flow.named("keyed").shell("k", Scene.noted(":"), scene).request().toBuilder()
            .setKey("order-4711")
            .build();
    keyedRun = client.submit(keyed).getRunId();
    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, keyedRun).getState());
    String large =
        "{ printf '{\"text\":\"'; head -c "
            + OUTPUT_BYTES
            + " /dev/zero | tr '\\0' x; printf '\"}'; } > \"$BATON_OUTPUT\"";
    passing =
        Runs.submit(
            client,
            Flow.named("passing")
                .shell("large", Scene.noted(large), scene)
                .shell("hold", Scene.gated(), scene)
                .task(
                    "reader",
                    "echo",
                    Map.of(
                        "size", "${{ size(tasks.large.output.result.text) }}",
                        "text", "${{ tasks.large.output.result.text }}"),
                    "large",
                    "hold"));
    cancelled =
        Runs.submit(client, Flow.named("cancelled").shell("c", Scene.noted("sleep 600"), scene));
    retried =
        Runs.submit(
            client,
            Flow.named("retried")
                .shell("flaky", Scene.failing(2), scene)
                .taskWith(
                    "retry",
                    Map.of("attempts", 3, "delay", DELAY_MILLIS + "ms", "maxDelay", "1m")));
    Awaitility.await("each is in the middle")
        .atMost(TestNode.PATIENCE)
        .until(() ->
            state(passing, "large") == TaskState.TASK_SUCCESS
                && state(passing, "hold") == TaskState.TASK_RUNNING
                && state(cancelled, "c") == TaskState.TASK_RUNNING
                && Runs.task(Runs.get(client, retried), "flaky").getRetryAt() > 0);

    TestNode leader = CLUSTER.leader();
    long term = TestCluster.term(leader);
    leader.kill();
    // While nobody leads: they wait for the next leader.
    client.cancel(CancelRunRequest.newBuilder().setRunId(cancelled).build());
    CLUSTER.leaderAfter(term);
  }

  @AfterAll
  void end() {
    scene.close();
  }

  @Test
  void returnsTheSameRunForTheSameKeyAndBody() {
    SubmitRunResponse again = client.submit(keyed);
    assertEquals(keyedRun, again.getRunId());
    assertTrue(again.getExisting());
    assertEquals(1, scene.ledger().starts(new Ledger.TaskKey(keyedRun, "k")).size());
  }

  @Test
  void refusesAnotherBodyUnderTheSameKey() {
    SubmitRunRequest other =
        Flow.named("other").shell("k", Scene.noted(":"), scene).request().toBuilder()
            .setKey(keyed.getKey())
            .build();
    BatonException refused = assertThrows(BatonException.class, () -> client.submit(other));
    assertEquals(RefusalCode.KEY_CONFLICT, refused.code());
    assertTrue(refused.getMessage().contains("order-4711"), refused.getMessage());
  }

  /** Due times are the journal's: neither the death of a leader nor its clock moves them. */
  @Test
  void keepsTheTimesOfRetries() {
    Run ended = Runs.awaitEnd(client, retried);
    assertEquals(RunState.RUN_SUCCESS, ended.getState());
    List<Attempt> attempts = Runs.task(ended, "flaky").getAttemptsList();
    assertEquals(
        List.of(
            AttemptOutcome.ATTEMPT_FAILED,
            AttemptOutcome.ATTEMPT_FAILED,
            AttemptOutcome.ATTEMPT_SUCCESS),
        attempts.stream().map(Attempt::getOutcome).toList());
    long first = attempts.get(1).getStartedAt() - attempts.get(0).getEndedAt();
    long second = attempts.get(2).getStartedAt() - attempts.get(1).getEndedAt();
    TestCluster.measured(
        "retries after %d and %d ms; %d and %d are asked for, a quarter more or less"
            .formatted(first, second, DELAY_MILLIS, 2 * DELAY_MILLIS));
    assertTrue(first >= DELAY_MILLIS * 3 / 4, "the second attempt came after " + first + " ms");
    assertTrue(second >= DELAY_MILLIS * 3 / 2, "the third attempt came after " + second + " ms");
    assertEquals(3, scene.ledger().starts(new Ledger.TaskKey(retried, "flaky")).size());
  }

  @Test
  void readsALargeOutputOfBeforeTheFailover() {
    scene.openGate();
    Run ended = Runs.awaitEnd(client, passing);
    assertEquals(RunState.RUN_SUCCESS, ended.getState(), ended.getReason());
    assertTrue(Runs.task(ended, "large").getOutputBytes() > OUTPUT_BYTES);
    String text = "x".repeat(OUTPUT_BYTES);
    assertEquals(
        "{\"size\":" + OUTPUT_BYTES + ",\"text\":\"" + text + "\"}",
        Runs.sorted(Runs.output(client, passing, "reader")));
    assertTrue(Runs.output(client, passing, "large").contains(text));
  }

  @Test
  void cancelsARunThatWasCancelledWhileNobodyLed() {
    Run ended = Runs.awaitEnd(client, cancelled);
    assertEquals(RunState.RUN_CANCELLED, ended.getState());
    assertEquals(List.of(), Signals.ofRun(cancelled));
    assertEquals(1, Runs.task(ended, "c").getAttemptsCount());
  }

  @Test
  void startsNothingTwice() {
    assertEquals(List.of(), scene.ledger().faults());
    assertFalse(scene.ledger().marks().isEmpty());
  }

  private TaskState state(String run, String task) {
    Task found = Runs.task(Runs.get(client, run), task);
    return found.getState();
  }
}
