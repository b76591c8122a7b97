package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a workflow can ask for, with real commands. */
class TasksIT {
  @RegisterExtension static final TestCluster CLUSTER = TestCluster.of("tasks", 1, 1, 1).build();

  private final Scene scene = CLUSTER.scene();
  private final BatonClient client = CLUSTER.client();

  @AfterEach
  void end() {
    scene.close();
  }

  @Test
  void leavesNoProcessAfterACancel() {
    String deaf = "sh -c 'trap \"\" TERM; while :; do sleep 1; done' & wait";
    String run =
        Runs.submit(
            client,
            Flow.named("cancelled")
                .shell("orphan", Scene.noted("(sleep 600 &); sleep 600"), scene)
                .shell("deaf", Scene.noted(deaf), scene)
                .shell("waiting", Scene.noted(":"), scene, "orphan"));
    awaitStarted(2);
    assertFalse(Signals.ofTask(run, "orphan").isEmpty());
    assertFalse(Signals.ofTask(run, "deaf").isEmpty());

    client.cancel(CancelRunRequest.newBuilder().setRunId(run).setReason("enough").build());
    Run ended = Runs.awaitEnd(client, run);

    assertEquals(RunState.RUN_CANCELLED, ended.getState());
    assertTrue(ended.getReason().contains("enough"), ended.getReason());
    for (Task task : ended.getTasksList()) {
      assertEquals(TaskState.TASK_CANCELLED, task.getState(), task.getTaskId());
    }
    assertEquals(List.of(), Signals.ofRun(run));
    assertEquals(2, scene.ledger().running().size());
    assertEquals(List.of(), scene.ledger().faults());
  }

  @Test
  void endsAnAttemptAtItsTimeoutAndTriesAgain() {
    String run =
        Runs.submit(
            client,
            Flow.named("timeout")
                .shell("slow", Scene.noted("sleep 600"), scene)
                .taskWith("timeout", "1s")
                .taskWith("retry", Map.of("attempts", 2, "delay", "100ms"))
                .shell("after", Scene.noted(":"), scene, "slow"));
    Run ended = Runs.awaitEnd(client, run);

    assertEquals(RunState.RUN_FAILED, ended.getState());
    Task slow = Runs.task(ended, "slow");
    assertEquals(TaskState.TASK_TIMEOUT, slow.getState());
    assertEquals(
        List.of(AttemptOutcome.ATTEMPT_TIMEOUT, AttemptOutcome.ATTEMPT_TIMEOUT),
        slow.getAttemptsList().stream().map(Attempt::getOutcome).toList());
    assertTrue(slow.getAttemptsList().stream().allMatch(a -> a.getDurationMs() >= 1000));
    assertEquals(TaskState.TASK_SKIPPED, Runs.task(ended, "after").getState());
    assertEquals(List.of(), Signals.ofRun(run));
  }

  @Test
  void endsTheWholeRunAtItsTimeout() {
    String run = Runs.submit(client, Flow.gated("run-timeout", 1, scene).with("timeout", "2s"));
    Run ended = Runs.awaitEnd(client, run);
    assertEquals(RunState.RUN_TIMEOUT, ended.getState());
    assertEquals(List.of(), Signals.ofRun(run));
  }

  @Test
  void stopsTheOthersWhenATaskFailsAndTheWorkflowSaysSo() {
    Flow flow = Flow.gated("cancel-others", 2, scene).with("onFailure", "cancel");
    String barrier = "while [ \"$(grep -c ^S \"$LEDGER\")\" -lt 3 ]; do sleep 0.1; done; exit 3";
    flow.shell("broken", Scene.noted(barrier), scene);
    String run = Runs.submit(client, flow);
    Run ended = Runs.awaitEnd(client, run);

    assertEquals(RunState.RUN_FAILED, ended.getState());
    assertTrue(ended.getReason().contains("broken"), ended.getReason());
    Task broken = Runs.task(ended, "broken");
    assertEquals(TaskState.TASK_FAILED, broken.getState());
    assertTrue(broken.getAttempts(0).getReason().contains("exit code 3"), broken.toString());
    assertEquals(TaskState.TASK_CANCELLED, Runs.task(ended, "g0").getState());
    assertEquals(TaskState.TASK_CANCELLED, Runs.task(ended, "g1").getState());
    assertEquals(List.of(), Signals.ofRun(run));
  }

  @Test
  void passesOutputsAndParametersOnByExpressions() {
    Flow flow =
        Flow.named("expressions")
            .with("params", Map.of("greeting", "hello", "n", 2))
            .task(
                "a",
                "shell",
                Map.of(
                    "command",
                    "echo \"{\\\"words\\\":[\\\"x\\\",\\\"$W\\\"]}\" > \"$BATON_OUTPUT\"",
                    "env",
                    Map.of("W", "${{ params.greeting }}")))
            .task(
                "b",
                "echo",
                Map.of(
                    "words", "${{ tasks.a.output.result.words }}",
                    "text", "n is ${{ params.n }}",
                    "sum", "${{ params.n + size(tasks.a.output.result.words) }}"),
                "a");
    SubmitRunRequest request = flow.request().toBuilder().putParams("n", "40").build();
    String run = client.submit(request).getRunId();

    assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, run).getState());
    assertEquals(
        "{\"sum\":42,\"text\":\"n is 40\",\"words\":[\"x\",\"hello\"]}",
        Runs.sorted(Runs.output(client, run, "b")));
  }

  private void awaitStarted(int count) {
    Awaitility.await(count + " tasks run")
        .atMost(TestNode.PATIENCE)
        .until(() -> scene.ledger().started().size() >= count);
  }
}
