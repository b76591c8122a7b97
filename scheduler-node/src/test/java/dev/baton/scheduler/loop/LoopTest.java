package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.engine.Attempt;
import dev.baton.scheduler.engine.Effect.Answer.CancelRecorded;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.engine.Retained;
import dev.baton.scheduler.engine.TaskState;
import dev.baton.scheduler.journal.History;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.journal.PastRun;
import dev.baton.scheduler.loop.LoopCluster.Heard;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.loop.WorkerSink.Assignment;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One node that leads, on a real etcd. */
class LoopTest extends RealEtcd {

  private LoopCluster nodes;
  private Node node;
  private TestWorker worker;

  LoopTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys);
    node = nodes.node("n1").awaitLeading();
    worker = nodes.worker("w", 8);
  }

  @AfterEach
  void stop() {
    thaw();
    nodes.close();
  }

  private Assignment awaitAssigned(String task, int attempt) {
    awaitUntil(task + " #" + attempt, () -> worker.hasReceived(task, attempt));
    return Objects.requireNonNull(worker.find(task, attempt));
  }

  private Attempt lastAttempt(RunId id, int index) {
    return ofTask(id, index, task -> Objects.requireNonNull(task.lastAttempt()));
  }

  private <T> T ofTask(RunId id, int index, Function<TaskState, T> query) {
    return node.read(view -> query.apply(Objects.requireNonNull(view.state().run(id)).task(index)));
  }

  @Test
  void shouldRunADiamondAndKeepItsRecord() {
    RunId id = node.run(nodes.submission(Workflows.diamond("diamond")));
    Assignment a = awaitAssigned("a", 1);
    assertEquals("echo", a.type());
    assertFalse(worker.hasReceived("b", 1));
    worker.succeed(a.name(), "{\"x\":1}");
    for (String task : List.of("b", "c", "d")) {
      worker.succeed(awaitAssigned(task, 1).name(), "null");
    }
    worker.succeed(awaitAssigned("e", 1).name(), "");
    node.awaitStatus(id, RunStatus.SUCCESS);
    node.awaitRetired(id);

    Retained.Row row = node.read(view -> Objects.requireNonNull(view.state().retained().find(id)));
    PastRun past = await(new History(etcd, keys, strand).find(row.historySeq(), id)).orElseThrow();
    assertEquals("diamond", past.workflow());
    assertEquals(5, past.tasks().size());
    assertEquals(new Output.Inline("{\"x\":1}"), past.tasks().getFirst().output());
    assertEquals("w", past.tasks().get(4).attempts().getFirst().workerId());
    assertEquals(0, node.faults(), node.told::toString);
    assertEquals(List.of(Verdict.ACCEPTED), worker.acks(a.name()));
  }

  @Test
  void shouldSayNothingBeforeItIsDurable() {
    RunId first = node.run(nodes.submission(Workflows.one("first")));
    Assignment running = awaitAssigned("a", 1);
    freeze();
    CompletableFuture<Heard> submitted = node.submit(nodes.submission(Workflows.wide("w", 3)));
    CompletableFuture<Heard> again = node.submit(nodes.submission(Workflows.one("first")));
    CompletableFuture<RunStatus> read =
        node.read(0, SOON, view -> Objects.requireNonNull(view.state().run(first)).status());
    worker.succeed(running.name(), "1");
    awaitAlways(
        "nothing leaves",
        Duration.ofMillis(600),
        () ->
            !submitted.isDone()
                && !again.isDone()
                && !read.isDone()
                && worker.acks(running.name()).isEmpty()
                && worker.receivedNames().equals(Set.of(running.name())));
    thaw();
    assertFalse(await(submitted).submitted().existing());
    await(again);
    await(read);
    awaitUntil("the ack", () -> worker.acks(running.name()).equals(List.of(Verdict.ACCEPTED)));
    awaitUntil("the assignments", () -> worker.receivedNames().size() == 5);
  }

  @Test
  void shouldAcknowledgeADuplicateOnlyOnceTheFirstIsDurable() {
    node.run(nodes.submission(Workflows.one("first")));
    AttemptName name = awaitAssigned("a", 1).name();
    freeze();
    worker.succeed(name, "1");
    worker.repeat(new WorkerReport.Finished(name, Outcome.SUCCESS, "1", "", 5, false));
    awaitAlways("nothing leaves", Duration.ofMillis(500), () -> worker.acks(name).isEmpty());
    thaw();
    awaitUntil(
        "both acks", () -> worker.acks(name).equals(List.of(Verdict.ACCEPTED, Verdict.DUPLICATE)));
  }

  @Test
  void shouldKeepLongOutputsBesideTheJournal() {
    RunId id = node.run(nodes.submission(Workflows.wide("w", 4)));
    String justInline = "\"" + "i".repeat((2 << 10) - 2) + "\"";
    String stored = "\"" + "s".repeat(3 << 10) + "\"";
    String longest = "\"" + "l".repeat((256 << 10) - 2) + "\"";
    String tooLong = "\"" + "t".repeat(257 << 10) + "\"";
    worker.succeed(awaitAssigned("t0", 1).name(), justInline);
    worker.succeed(awaitAssigned("t1", 1).name(), stored);
    worker.succeed(awaitAssigned("t2", 1).name(), longest);
    worker.succeed(awaitAssigned("t3", 1).name(), tooLong);
    node.awaitStatus(id, RunStatus.FAILED);
    assertEquals(TaskStatus.FAILED, ofTask(id, 3, TaskState::status));
    assertEquals(
        "its output has 263170 bytes and the limit is 262144: write it to a file or an object store"
            + " and return the place",
        lastAttempt(id, 3).reason());
    assertEquals(1, ofTask(id, 3, TaskState::lastNumber), "a further try would end the same");
    List<?> payloads = list(keys.payloads());
    assertEquals(2, payloads.size());
    Outputs outputs = new Outputs(etcd, keys, strand);
    long run = node.read(view -> Objects.requireNonNull(view.state().run(id)).number());
    assertEquals(stored, await(outputs.output(new AttemptRef(run, 1, 1))).orElseThrow());
    assertEquals(longest, await(outputs.output(new AttemptRef(run, 2, 1))).orElseThrow());
  }

  @Test
  void shouldStoreALongOutputOnceEtcdTakesItAndAcknowledgeItThen() {
    RunId id = node.run(nodes.submission(Workflows.one("w")));
    AttemptName name = awaitAssigned("a", 1).name();
    node.reads.failing = txn -> true;
    String output = "\"" + "s".repeat(3 << 10) + "\"";
    worker.succeed(name, output);
    worker.repeat(new WorkerReport.Finished(name, Outcome.SUCCESS, output, "", 5, false));
    awaitAlways("it waits", Duration.ofMillis(400), () -> worker.acks(name).isEmpty());
    node.reads.failing = txn -> false;
    node.awaitStatus(id, RunStatus.SUCCESS);
    awaitUntil("the ack", () -> !worker.acks(name).isEmpty());
    assertEquals(Verdict.ACCEPTED, worker.acks(name).getFirst());
  }

  @Test
  void shouldEvaluateExpressionsFromWhatIsInEtcdAndInTheState() {
    String yaml =
        """
        name: expressions
        params: {who: nobody}
        tasks:
          - {id: short, type: echo}
          - {id: long, type: echo}
          - id: use
            type: echo
            dependsOn: [short, long]
            params:
              plain: text
              greeting: "hello ${{ params.who }}"
              size: ${{ size(tasks.long.output) }}
              field: ${{ tasks.short.output.x }}
        """;
    String who = "w".repeat(3000);
    RunId id = node.run(nodes.submission(yaml, "{\"who\":\"" + who + "\"}", ""));
    assertEquals(1, list(keys.params(id.toString())).size(), "long parameters stand beside");
    worker.succeed(awaitAssigned("short", 1).name(), "{\"x\":[1,2]}");
    worker.succeed(awaitAssigned("long", 1).name(), "\"" + "l".repeat(5000) + "\"");
    Assignment use = awaitAssigned("use", 1);
    assertEquals("\"text\"", use.params().get("plain"));
    assertEquals("\"hello " + who + "\"", use.params().get("greeting"));
    assertEquals("5000", use.params().get("size"));
    assertEquals("[1,2]", use.params().get("field"));
  }

  @Test
  void shouldReadALongInputOnceForAllWhoNeedIt() {
    StringBuilder yaml = new StringBuilder("name: fan\ntasks:\n  - {id: src, type: echo}\n");
    for (int i = 0; i < 8; i++) {
      yaml.append("  - {id: u")
          .append(i)
          .append(
              ", type: echo, dependsOn: [src], params: {n: \"${{ size(tasks.src.output) }}\"}}\n");
    }
    node.run(nodes.submission(yaml.toString()));
    worker.succeed(awaitAssigned("src", 1).name(), "\"" + "l".repeat(100_000) + "\"");
    for (int i = 0; i < 8; i++) {
      assertEquals("100000", awaitAssigned("u" + i, 1).params().get("n"));
    }
    long reads =
        node.reads.reads.stream()
            .filter(key -> key.startsWith(keys.payloads()) && !key.equals(keys.payloads()))
            .count();
    assertEquals(1, reads);
  }

  @Test
  void shouldFailATaskForGoodWhoseExpressionFails() {
    String yaml =
        """
        name: failing
        tasks:
          - {id: a, type: echo}
          - {id: b, type: echo, dependsOn: [a], retry: {attempts: 5, delay: 1s},
             params: {x: "${{ tasks.a.output.missing }}"}}
        """;
    RunId id = node.run(nodes.submission(yaml));
    worker.succeed(awaitAssigned("a", 1).name(), "{\"x\":1}");
    node.awaitStatus(id, RunStatus.FAILED);
    assertFalse(worker.hasReceived("b", 1), "it never reached a worker");
    String reason = lastAttempt(id, 1).reason();
    assertTrue(reason.contains("param x of task b"), reason);
    assertEquals(1, ofTask(id, 1, TaskState::lastNumber));
  }

  @Test
  void shouldTellWorkersToStopWhatIsCancelled() {
    RunId id = node.run(nodes.submission(Workflows.diamond("diamond")));
    AttemptName a = awaitAssigned("a", 1).name();
    Heard heard = await(node.cancel(id));
    assertEquals(RunStatus.RUNNING, ((CancelRecorded) heard.answer()).status());
    awaitUntil("the cancel", () -> worker.cancels().equals(List.of(a)));
    worker.end(a, Outcome.CANCELLED, "", "stopped", false);
    node.awaitStatus(id, RunStatus.CANCELLED);
    assertEquals(TaskStatus.CANCELLED, ofTask(id, 4, TaskState::status));
    assertEquals(RunStatus.CANCELLED, ((CancelRecorded) await(node.cancel(id)).answer()).status());
  }

  @Test
  void shouldEndARunWhoseTimeIsOver() {
    RunId id = node.run(nodes.submission("name: slow\ntimeout: 10m\ntasks: [{id: a, type: echo}]"));
    AttemptName a = awaitAssigned("a", 1).name();
    node.advance(Duration.ofMinutes(9));
    awaitAlways("not yet", Duration.ofMillis(300), () -> worker.cancels().isEmpty());
    node.advance(Duration.ofMinutes(2));
    awaitUntil("the cancel", () -> worker.cancels().contains(a));
    worker.end(a, Outcome.CANCELLED, "", "stopped", false);
    node.awaitStatus(id, RunStatus.TIMEOUT);
  }

  @Test
  void shouldEndAnAttemptWhoseWorkerDoesNot() {
    RunId id =
        node.run(
            nodes.submission(
                "name: slow\ntasks: [{id: a, type: echo, timeout: 1m, retry: {attempts: 2, delay: 1s}}]"));
    AttemptName a = awaitAssigned("a", 1).name();
    worker.answersInventory(false);
    node.advance(Duration.ofSeconds(65));
    awaitAlways("not yet", Duration.ofMillis(300), () -> worker.cancels().isEmpty());
    node.advance(Duration.ofSeconds(6));
    awaitUntil("the cancel", () -> worker.cancels().contains(a));
    assertEquals(Outcome.TIMEOUT, lastAttempt(id, 0).outcome());
    node.advance(Duration.ofSeconds(2));
    awaitAssigned("a", 2);
  }

  @Test
  void shouldNeverTimeOutAnAttemptWhoseResultIsBeingStored() {
    RunId id = node.run(nodes.submission("name: slow\ntasks: [{id: a, type: echo, timeout: 1m}]"));
    AttemptName a = awaitAssigned("a", 1).name();
    node.reads.failing = txn -> true;
    worker.succeed(a, "\"" + "s".repeat(3 << 10) + "\"");
    node.onStrand(() -> true);
    node.advance(Duration.ofMinutes(5));
    awaitAlways("it waits", Duration.ofMillis(400), () -> worker.cancels().isEmpty());
    node.reads.failing = txn -> false;
    node.awaitStatus(id, RunStatus.SUCCESS);
  }

  @Test
  void shouldWriteTheRecordOfALongRunInParts() {
    int tasks = 300;
    String output = "\"" + "o".repeat(2000) + "\"";
    worker.handle(assignment -> LoopCluster.success(assignment, output));
    RunId id = node.run(nodes.submission(Workflows.wide("long", tasks)));
    node.awaitRetired(id);
    Retained.Row row = node.read(view -> Objects.requireNonNull(view.state().retained().find(id)));
    assertTrue(list(keys.historyParts()).size() > 1, "in parts");
    PastRun summary = await(new History(etcd, keys, strand).entry(row.historySeq())).getFirst();
    assertEquals(List.of(), summary.tasks());
    assertEquals(Map.of(TaskStatus.SUCCESS, tasks), summary.counts());
    PastRun past = await(new History(etcd, keys, strand).find(row.historySeq(), id)).orElseThrow();
    assertEquals(tasks, past.tasks().size());
    assertEquals(new Output.Inline(output), past.tasks().getLast().output());
  }

  @Test
  void shouldKeepTwoLeasesAtMost() {
    assertTrue(node.leadership.leases() <= 1);
    assertNotNull(node.read(ReadView::state));
  }

  @Test
  void shouldPutWhatComesTogetherIntoOneEntry() {
    List<CompletableFuture<Heard>> all =
        IntStream.range(0, 50)
            .mapToObj(i -> node.submit(nodes.submission(Workflows.one("w" + i % 3))))
            .toList();
    all.forEach(heard -> assertFalse(await(heard).submitted().existing()));
    int runs = node.read(view -> view.state().runs().size());
    assertEquals(50, runs);
    assertTrue(node.entries.size() < 50, "many went together");
  }
}
