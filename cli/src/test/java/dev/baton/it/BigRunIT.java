package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A run at the edge of what is allowed. 2,000 tasks by default; {@code
 * -Dbaton.it.bigRunTasks=10000} for all that is allowed.
 */
class BigRunIT {
  private static final int TASKS = Integer.getInteger("baton.it.bigRunTasks", 2000);
  private static final int LAYER = 100;
  private static final int OUTPUT_BYTES = 2000;
  private static final int MIB = 1 << 20;

  @RegisterExtension
  static final TestCluster CLUSTER =
      TestCluster.of("big-run", 3, 3, 1)
          .schedulerSettings("leaderTtl=2s")
          .workerSettings("slots=64")
          .build();

  @Test
  void survivesAFailoverAndAColdLoadAndKeepsEveryOutput() {
    BatonClient client = CLUSTER.client();
    String definition = definition();
    int bytes = definition.getBytes(StandardCharsets.UTF_8).length;
    assertTrue(bytes > MIB * 9 / 10 && bytes <= MIB, "the definition has " + bytes + " bytes");
    SubmitRunRequest request =
        SubmitRunRequest.newBuilder()
            .setDefinition(definition)
            .putParams("b", "\"" + "b".repeat(OUTPUT_BYTES) + "\"")
            .build();
    long from = System.nanoTime();
    String run = client.submit(request).getRunId();

    awaitEnded(client, run, TASKS / 5);
    TestNode leader = CLUSTER.leader();
    long term = TestCluster.term(leader);
    leader.kill();
    CLUSTER.leaderAfter(term);
    awaitEnded(client, run, TASKS / 2);
    List<TestNode> schedulers = CLUSTER.schedulers();
    schedulers.forEach(TestNode::close);
    schedulers.forEach(TestNode::awaitExit);
    CLUSTER.heal();

    Run ended = Runs.awaitEnd(client, run);
    TestCluster.measured(
        TASKS
            + " tasks with a fail-over and a cold load: "
            + Duration.ofNanos(System.nanoTime() - from).toSeconds()
            + " s");
    assertEquals(RunState.RUN_SUCCESS, ended.getState(), ended.getReason());
    assertEquals(TASKS, ended.getCounts().getSuccess());
    assertTrue(ended.getTasksList().stream().allMatch(task -> task.getAttemptsCount() == 1));
    awaitRetired();

    // Nobody has it in memory any more.
    CLUSTER.schedulers().forEach(TestNode::close);
    CLUSTER.schedulers().forEach(TestNode::awaitExit);
    CLUSTER.heal();
    long reading = System.nanoTime();
    for (int i = 0; i < TASKS; i++) {
      assertEquals(
          "{\"b\":\"" + "b".repeat(OUTPUT_BYTES) + "\",\"i\":" + i + "}",
          Runs.sorted(Runs.output(client, run, id(i))));
    }
    TestCluster.measured(
        TASKS
            + " outputs read from the history: "
            + Duration.ofNanos(System.nanoTime() - reading).toMillis()
            + " ms");
  }

  /** Layers of tasks, each after one of the layer before; filled up to a mebibyte. */
  private static String definition() {
    int plain = definition(0).getBytes(StandardCharsets.UTF_8).length;
    return definition((MIB - plain) / TASKS);
  }

  private static String definition(int filling) {
    Flow flow = Flow.named("big").with("params", Map.of("b", "")).with("defaults", Map.of());
    for (int i = 0; i < TASKS; i++) {
      String[] before = i < LAYER ? new String[0] : new String[] {id(i - LAYER)};
      flow.task(id(i), "echo", Map.of("b", "${{ params.b }}", "i", i), before);
    }
    // Spaces in a value count as text and are cut from nothing: they make the file long, not work.
    return flow.json().replace("\"dependsOn\"", " ".repeat(filling) + "\"dependsOn\"");
  }

  private static String id(int index) {
    return "t" + index;
  }

  private static void awaitEnded(BatonClient client, String run, int count) {
    Awaitility.await(count + " tasks have ended")
        .atMost(TestNode.PATIENCE)
        .until(() -> Runs.summary(client, run).getCounts().getSuccess() >= count);
  }

  private static void awaitRetired() {
    try (Store store = new Store(CLUSTER)) {
      Awaitility.await("the run is in the history")
          .atMost(TestNode.PATIENCE)
          .until(() ->
              store.count(store.keys().history()) == 1
                  && store.count(store.keys().historyParts()) > 0);
    }
  }
}
