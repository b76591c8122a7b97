package dev.baton.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.client.TestCluster;
import dev.baton.client.TestNode;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskCounts;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.WaitKind;
import dev.baton.proto.v1.Worker;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandsTest {
  private static final long NOW = CommandRun.NOW.toEpochMilli();

  @TempDir private Path directory = Path.of("");
  private final TestCluster cluster = new TestCluster();
  private Map<String, String> environment = Map.of();

  @BeforeEach
  void start() throws IOException {
    TestNode node = cluster.start("s1");
    environment = Map.of("BATON_ENDPOINTS", node.endpoint().toString(), "USER", "ada");
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void shouldShowARunWithItsAttempts() {
    cluster.put(run());

    CommandRun get = baton("get", "R1");

    assertEquals("", get.err());
    assertEquals(0, get.code());
    assertEquals(
        """
        Run       R1
        Workflow  pipeline 3
        State     RUNNING, 1 of 3 tasks ended
        Created   2 min ago, 2026-03-01T11:58:00.000Z
        Took      2 min so far
        Key       order-1
        Labels    team=data, zone=a
        Actor     ada

        TASK   STATE    ATTEMPT  WORKER  STARTED         TOOK    OUTCOME  WHY
        fetch  SUCCESS  1        w1      1 min 40 s ago  12 s    FAILED   exit code 7: no route
                        2        w2      1 min 10 s ago  950 ms  SUCCESS
        count  RUNNING  1        w1      10 s ago        10 s    RUNNING
        merge  PENDING  -        -       -               -       -        waits for count
        """,
        get.out());
  }

  @Test
  void shouldPrintARunAsJson() throws IOException {
    cluster.put(run());

    JsonNode json = json(baton("get", "R1", "-o", "json"));

    assertEquals("RUNNING", json.get("state").asText());
    assertEquals("2026-03-01T11:58:00.000Z", json.get("createdAt").asText());
    assertTrue(json.get("endedAt").isNull());
    assertEquals("data", json.get("labels").get("team").asText());
    JsonNode fetch = json.get("tasks").get(0);
    assertEquals("FAILED", fetch.get("attempts").get(0).get("outcome").asText());
    assertEquals("w2", fetch.get("attempts").get(1).get("worker").asText());
    assertEquals("waits for count", json.get("tasks").get(2).get("waitReason").asText());
    assertEquals(
        List.of(
            "runId",
            "workflow",
            "version",
            "tenant",
            "labels",
            "actor",
            "key",
            "state",
            "cancelling",
            "createdAt",
            "endedAt",
            "reason",
            "counts",
            "tasks",
            "seq",
            "stalenessMs"),
        names(json));
    assertEquals(
        List.of(
            "taskId",
            "type",
            "state",
            "dependsOn",
            "priority",
            "waitKind",
            "waitReason",
            "retryAt",
            "outputBytes",
            "progress",
            "progressMessage",
            "attempts"),
        names(fetch));
    assertEquals(
        List.of("number", "worker", "startedAt", "endedAt", "outcome", "reason", "durationMs"),
        names(fetch.get("attempts").get(0)));
  }

  @Test
  void shouldExplainWhatWaitsAndWhatRanMoreThanOnce() {
    cluster.put(run());

    assertEquals(
        """
        Run R1 of pipeline: RUNNING

        fetch  SUCCESS
          attempt 1 on w1 failed after 12 s, which counts as a try: exit code 7: no route
          attempt 2 on w2 succeeded after 950 ms

        merge  PENDING
          waits for count
        """,
        baton("explain", "R1").out());
    assertEquals(
        """
        Run R1 of pipeline: RUNNING

        count  RUNNING
          attempt 1 on w1 runs
        """,
        baton("explain", "R1", "count").out());
    CommandRun none = baton("explain", "R1", "nothing");
    assertEquals(7, none.code());
    assertEquals(
        "baton explain: run R1 has no task 'nothing': 'baton get' lists them\n", none.err());
  }

  @Test
  void shouldExplainInFewLinesWhatManyTasksWaitFor() {
    Run.Builder wide = run().toBuilder().clearTasks();
    for (int i = 1; i <= 100; i++) {
      wide.addTasks(
          Task.newBuilder()
              .setTaskId("t" + i)
              .setState(TaskState.TASK_READY)
              .setWaitKind(WaitKind.WAIT_NO_WORKER)
              .setWaitReason("no worker for echo"));
    }
    cluster.put(wide.build());

    assertEquals(
        """
        Run R1 of pipeline: RUNNING

        t1, t2, t3, t4, t5 and 95 more  READY
          no worker for echo
        """,
        baton("explain", "R1").out());
  }

  @Test
  void shouldExplainAsJson() throws IOException {
    cluster.put(run());

    JsonNode json = json(baton("explain", "R1", "-o", "json"));

    assertEquals(2, json.get("tasks").size());
    assertTrue(json.get("tasks").get(0).get("waitKind").isNull());
    assertEquals("DEPENDENCY", json.get("tasks").get(1).get("waitKind").asText());
    assertEquals("waits for count", json.get("tasks").get(1).get("waitReason").asText());
  }

  @Test
  void shouldPrintTheOutputOfATaskAsItIs() {
    cluster.put(run());
    cluster.putOutput("R1", "fetch", "{\"bytes\":12}");

    assertEquals("{\"bytes\":12}\n", baton("get", "R1", "--output", "fetch").out());
    CommandRun none = baton("get", "R1", "--output", "merge");
    assertEquals(7, none.code());
    assertEquals("baton get: Task merge has no output: it has not succeeded.\n", none.err());
  }

  @Test
  void shouldListRuns() throws IOException {
    cluster.put(run());
    cluster.put(
        run().toBuilder()
            .setRunId("R2")
            .setState(RunState.RUN_FAILED)
            .setReason("task fetch failed")
            .setEndedAt(NOW - 60_000)
            .build());

    CommandRun list = baton("list");
    assertEquals(
        """
        RUN  WORKFLOW  STATE    TASKS  CREATED    TOOK   KEY      WHY
        R2   pipeline  FAILED   1/3    2 min ago  1 min  order-1  task fetch failed
        R1   pipeline  RUNNING  1/3    2 min ago  2 min  order-1
        """,
        list.out());
    JsonNode json = json(baton("list", "--state", "failed", "-o", "json"));
    assertEquals(1, json.get("runs").size());
    assertEquals("R2", json.get("runs").get(0).get("runId").asText());
    assertEquals("There are no such runs.\n", baton("list", "--name", "other").err());
    assertEquals(2, baton("list", "--limit", "0").code());
    assertTrue(json(baton("list", "--limit", "1", "-o", "json")).get("more").asBoolean());
  }

  @Test
  void shouldSubmitWithTypedParameters() throws IOException {
    Files.writeString(directory.resolve("flow.yaml"), "name: flow\n");

    CommandRun submit =
        baton(
            "submit",
            "flow.yaml",
            "--param",
            "count=3",
            "--param",
            "name=Ada",
            "--param",
            "text=\"3\"",
            "--param",
            "empty=",
            "--label",
            "team=data",
            "--key",
            "k-1",
            "-o",
            "json");

    SubmitRunRequest request = (SubmitRunRequest) cluster.requests("SubmitRun").getFirst();
    assertEquals("name: flow\n", request.getDefinition());
    assertEquals(
        Map.of("count", "3", "name", "\"Ada\"", "text", "\"3\"", "empty", "\"\""),
        request.getParamsMap());
    assertEquals(Map.of("team", "data"), request.getLabelsMap());
    assertEquals("k-1", request.getKey());
    assertEquals("ada", request.getActor());
    assertEquals(List.of("runId", "existing", "warnings", "seq"), names(json(submit)));
    assertEquals(request.getRunId(), json(submit).get("runId").asText());
  }

  @Test
  void shouldRefuseAFileThatCannotBeSent() throws IOException {
    Files.write(directory.resolve("latin1.yaml"), new byte[] {'a', (byte) 0xe9, 'b'});
    Files.write(directory.resolve("large.yaml"), new byte[(1 << 20) + 1]);

    assertEquals(
        "baton submit: latin1.yaml is not UTF-8 text: a workflow is YAML or JSON in UTF-8\n",
        baton("submit", "latin1.yaml").err());
    CommandRun large = baton("submit", "large.yaml");
    assertEquals(2, large.code());
    assertTrue(large.err().contains("over the limit of 1 MiB"), large.err());
    assertTrue(baton("submit", "none.yaml").err().contains("there is no file none.yaml"));
    Files.writeString(directory.resolve("flow.yaml"), "name: flow\n");
    assertEquals(
        "baton submit: --param needs NAME=VALUE, but got 'count'\n",
        baton("submit", "flow.yaml", "--param", "count").err());
    assertEquals(0, cluster.requests("SubmitRun").size());
  }

  @Test
  void shouldEndWithTheCodeOfARefusal() throws IOException {
    Files.writeString(directory.resolve("flow.yaml"), "name: flow\n");
    cluster.refuseNext(
        "SubmitRun",
        TestCluster.refusal(
            Status.INVALID_ARGUMENT, RefusalCode.INVALID_DEFINITION, "tasks: there is none", null));
    cluster.refuseNext(
        "SubmitRun",
        TestCluster.refusal(
            Status.ALREADY_EXISTS, RefusalCode.KEY_CONFLICT, "Key k is in use.", null));

    CommandRun invalid = baton("submit", "flow.yaml");
    assertEquals("baton submit: tasks: there is none\n", invalid.err());
    assertEquals(2, invalid.code());
    assertEquals(7, baton("submit", "flow.yaml", "--key", "k").code());
    assertEquals(7, baton("get", "nosuch").code());
  }

  @Test
  void shouldFollowARunToItsEnd() {
    cluster.put(ended(RunState.RUN_FAILED, TaskState.TASK_FAILED, "exit code 1"));

    CommandRun watch = baton("watch", "R1");

    assertEquals(1, watch.code());
    assertEquals(
        """
        11:59:50  fetch  FAILED     on w1, 10 s: exit code 1
        Run R1 FAILED after 2 min: exit code 1
        """,
        watch.out());
    cluster.put(ended(RunState.RUN_SUCCESS, TaskState.TASK_SUCCESS, ""));
    assertEquals(0, baton("watch", "R1").code());
  }

  @Test
  void shouldDrawABarWhereSomebodyLooks() {
    cluster.put(ended(RunState.RUN_SUCCESS, TaskState.TASK_SUCCESS, ""));

    CommandRun watch = CommandRun.of(directory, environment, true, "watch", "R1");

    assertTrue(
        watch.out().contains("[########################] 1 of 1 tasks ended, 0 running, 2 min"),
        watch.out());
    assertTrue(watch.out().contains("\033[32mSUCCESS"), watch.out());
  }

  @Test
  void shouldPrintAWatchAsJsonLines() throws IOException {
    cluster.put(ended(RunState.RUN_SUCCESS, TaskState.TASK_SUCCESS, ""));

    List<String> lines = baton("watch", "R1", "-o", "json").out().lines().toList();

    assertEquals(2, lines.size());
    assertEquals("{\"event\":\"leader\",\"nodeId\":\"s1\",\"term\":7}", lines.get(0));
    JsonNode change = new JsonMapper().readTree(lines.get(1));
    assertEquals("change", change.get("event").asText());
    assertEquals("SUCCESS", change.get("run").get("state").asText());
    assertEquals("fetch", change.get("tasks").get(0).get("taskId").asText());
  }

  @Test
  void shouldCancel() throws IOException {
    cluster.put(run());

    CommandRun cancel = baton("cancel", "R1", "--reason", "wrong input");

    assertEquals("Run R1 is being cancelled; its running tasks are told to stop\n", cancel.out());
    CancelRunRequest request = (CancelRunRequest) cluster.requests("CancelRun").getFirst();
    assertEquals("wrong input", request.getReason());
    assertEquals("ada", request.getActor());
    assertEquals("RUNNING", json(baton("cancel", "R1", "-o", "json")).get("state").asText());
  }

  @Test
  void shouldShowNodesAndWorkers() throws IOException {
    cluster.addWorker(
        Worker.newBuilder()
            .setWorkerId("w1")
            .setAddress("127.0.0.1:9001")
            .addCapabilities("*")
            .addCapabilities("shell")
            .setSlots(16)
            .setSlotsUsed(3)
            .setPresence(Worker.Presence.CONNECTED)
            .putLabels("zone", "a")
            .build());

    assertEquals(
        """
        WORKER  PRESENCE   SERVICE  SLOTS  CAPABILITIES  ADDRESS         VERSION  LABELS
        w1      CONNECTED  -        3/16   *,shell       127.0.0.1:9001  -        zone=a
        """,
        baton("workers").out());
    assertEquals(16, json(baton("workers", "-o", "json")).at("/workers/0/slots").asInt());
    String nodes = baton("nodes").out();
    assertTrue(nodes.contains("s1    leader  127.0.0.1:"), nodes);
    assertTrue(nodes.endsWith("Term 7\n"), nodes);
    assertTrue(json(baton("nodes", "-o", "json")).at("/nodes/0/leader").asBoolean());
  }

  @Test
  void shouldTakeWorkersOutOfServiceAndBack() throws IOException {
    for (String id : List.of("w1", "w2")) {
      cluster.addWorker(
          Worker.newBuilder()
              .setWorkerId(id)
              .setIncarnation(id + "-life")
              .setSlots(4)
              .setPresence(Worker.Presence.CONNECTED)
              .build());
    }

    assertEquals(
        "Worker w1 gets nothing new until 'baton worker uncordon w1'\n",
        baton("worker", "cordon", "w1").out());
    assertEquals("Worker w2 has ended, and stays cordoned\n", baton("worker", "drain", "w2").out());
    CordonWorkerRequest drain = (CordonWorkerRequest) cluster.requests("CordonWorker").getLast();
    assertTrue(drain.getDrain());
    assertEquals("w2-life", drain.getIncarnation());
    assertEquals("ada", drain.getActor());
    assertEquals(
        """
        WORKER  PRESENCE   SERVICE   SLOTS  CAPABILITIES  ADDRESS  VERSION  LABELS
        w1      CONNECTED  cordoned  0/4    -             -        -
        w2      ABSENT     cordoned  0/0    -             -        -
        """,
        baton("workers").out());
    assertEquals(
        "Worker w2 was not there, and stays cordoned\n", baton("worker", "drain", "w2").out());
    assertFalse(((CordonWorkerRequest) cluster.requests("CordonWorker").getLast()).getDrain());
    assertEquals("Worker w1 is in service\n", baton("worker", "uncordon", "w1").out());
    assertFalse(json(baton("workers", "-o", "json")).at("/workers/0/cordoned").asBoolean());
    assertTrue(json(baton("workers", "-o", "json")).at("/workers/1/cordoned").asBoolean());
    CommandRun unknown = baton("worker", "drain", "w9");
    assertEquals(7, unknown.code());
    assertEquals(
        "baton worker drain: no worker 'w9' is registered or cordoned: 'baton workers' lists"
            + " them\n",
        unknown.err());
  }

  @Test
  void shouldJudgeAFileWithoutACluster() throws IOException {
    Files.writeString(
        directory.resolve("good.yaml"), "name: two\ntasks:\n  - {id: a, type: echo}\n");
    Files.writeString(
        directory.resolve("bad.yaml"),
        """
        name: two
        tasks:
          - {id: a, type: echo, dependsOn: [b]}
          - {id: b, type: echo, dependsOn: [a]}
        """);

    assertEquals(
        "good.yaml is valid: workflow two with 1 task\n", baton("validate", "good.yaml").out());
    CommandRun bad = baton("validate", "bad.yaml");
    assertEquals(2, bad.code());
    assertTrue(bad.err().startsWith("bad.yaml breaks a rule:\n"), bad.err());
    assertTrue(bad.err().contains("a -> b -> a"), bad.err());
    JsonNode json = json(CommandRun.of(directory, Map.of(), "validate", "bad.yaml", "-o", "json"));
    assertEquals(1, json.get("total").asInt());
    assertEquals(3, json.at("/problems/0/line").asInt());
  }

  @Test
  void shouldSayWhatIsWrongWithACommandLine() {
    assertEquals(2, baton().code());
    assertEquals(
        "baton: there is no command 'lst'; did you mean list or status?; 'baton --help' shows"
            + " how\n",
        baton("lst").err());
    assertTrue(baton("get", "R1", "--timeout", "3x").err().contains("such as 500ms, 30s, 5m"));
    assertEquals(2, baton("get", "R1", "--endpoints", "nowhere").code());
    assertEquals(2, CommandRun.of(directory, Map.of(), "list", "--cluster", "A B").code());
  }

  @Test
  void shouldRefuseABenchmarkThatContradictsItself() {
    assertTrue(
        bench("--duration", "60m", "--fault", "KILL").err().contains("with --fault say --rounds"));
    assertTrue(bench("--busy-loops", "2").err().contains("needs --fault or --duration"));
    assertTrue(bench("--busy-loops", "-1", "--duration", "1m").err().contains("0 to 1000"));
    assertEquals(2, bench("--busy-loops", "2").code());
  }

  private CommandRun bench(String... options) {
    List<String> line = new ArrayList<>(List.of("bench"));
    line.addAll(List.of(options));
    return CommandRun.of(directory, Map.of(), line.toArray(String[]::new));
  }

  @Test
  void shouldShowExamplesInTheHelpOfEveryCommand() {
    String commands = baton("--help").out();
    assertTrue(commands.contains("130   ended by Ctrl-C"), commands);
    commands
        .lines()
        .dropWhile(line -> !line.startsWith("Commands:"))
        .skip(1)
        .takeWhile(line -> !line.isBlank())
        .map(line -> line.strip().split(" ", 2)[0])
        .forEach(command -> {
          CommandRun help = baton(command, "--help");
          assertEquals(0, help.code(), command);
          assertTrue(help.out().contains("Examples:\n  baton " + command), command);
        });
  }

  private CommandRun baton(String... args) {
    return CommandRun.of(directory, environment, args);
  }

  private static JsonNode json(CommandRun run) throws IOException {
    return new JsonMapper().readTree(run.out());
  }

  private static List<String> names(JsonNode object) {
    return object.properties().stream().map(Map.Entry::getKey).toList();
  }

  private static Run run() {
    return Run.newBuilder()
        .setRunId("R1")
        .setWorkflow("pipeline")
        .setWorkflowVersion("3")
        .setTenant("default")
        .putLabels("zone", "a")
        .putLabels("team", "data")
        .setActor("ada")
        .setKey("order-1")
        .setState(RunState.RUN_RUNNING)
        .setCreatedAt(NOW - 120_000)
        .setCounts(TaskCounts.newBuilder().setSuccess(1).setRunning(1).setPending(1))
        .addTasks(
            Task.newBuilder()
                .setTaskId("fetch")
                .setType("shell")
                .setState(TaskState.TASK_SUCCESS)
                .addAttempts(
                    attempt(1, "w1", 100_000, 12_000)
                        .setOutcome(AttemptOutcome.ATTEMPT_FAILED)
                        .setReason("exit code 7: no route"))
                .addAttempts(
                    attempt(2, "w2", 70_000, 950).setOutcome(AttemptOutcome.ATTEMPT_SUCCESS)))
        .addTasks(
            Task.newBuilder()
                .setTaskId("count")
                .setType("text_process")
                .setState(TaskState.TASK_RUNNING)
                .addDependsOn("fetch")
                .addAttempts(
                    Attempt.newBuilder().setNumber(1).setWorkerId("w1").setStartedAt(NOW - 10_000)))
        .addTasks(
            Task.newBuilder()
                .setTaskId("merge")
                .setType("echo")
                .setState(TaskState.TASK_PENDING)
                .addDependsOn("count")
                .setWaitKind(WaitKind.WAIT_DEPENDENCY)
                .setWaitReason("waits for count"))
        .build();
  }

  private static Attempt.Builder attempt(int number, String worker, long ago, long duration) {
    return Attempt.newBuilder()
        .setNumber(number)
        .setWorkerId(worker)
        .setStartedAt(NOW - ago)
        .setEndedAt(NOW - ago + duration)
        .setDurationMs(duration);
  }

  private static Run ended(RunState state, TaskState task, String reason) {
    return Run.newBuilder()
        .setRunId("R1")
        .setWorkflow("pipeline")
        .setState(state)
        .setReason(reason)
        .setCreatedAt(NOW - 120_000)
        .setEndedAt(NOW)
        .setCounts(
            task == TaskState.TASK_SUCCESS
                ? TaskCounts.newBuilder().setSuccess(1)
                : TaskCounts.newBuilder().setFailed(1))
        .addTasks(
            Task.newBuilder()
                .setTaskId("fetch")
                .setState(task)
                .addAttempts(
                    attempt(1, "w1", 20_000, 10_000)
                        .setOutcome(
                            task == TaskState.TASK_SUCCESS
                                ? AttemptOutcome.ATTEMPT_SUCCESS
                                : AttemptOutcome.ATTEMPT_FAILED)
                        .setReason(reason)))
        .build();
  }
}
