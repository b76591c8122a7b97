package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.LoopCluster.Heard;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.loop.LoopCluster.RefusedRead;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What throws is counted, and never leaves the loop with half of something. */
class FaultsTest extends RealEtcd {
  private LoopCluster nodes;
  private Node node;
  private TestWorker worker;

  FaultsTest() {
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
    nodes.close();
  }

  @SuppressWarnings("NullAway") // What a bug could hand over.
  private Submission poisonous(@Nullable String tenant, @Nullable String actor) {
    return new Submission(
        new RunId(1, System.nanoTime()),
        Workflows.definition(Workflows.one("poison")),
        tenant,
        Map.of(),
        actor,
        "key",
        "",
        1,
        false);
  }

  private void assertWorks() {
    RunId id = nodes.leader().run(nodes.submission(Workflows.one("fine")));
    awaitUntil(
        "it is assigned",
        () -> worker.running().stream().anyMatch(name -> name.runId().equals(id.toString())));
  }

  private void assertNotFatal() {
    assertFalse(node.told.stream().anyMatch(word -> word.startsWith("fatal")), node.told::toString);
  }

  @Test
  void shouldRefuseWhatCannotBeDecidedAndGoOn() {
    for (int i = 0; i < 3; i++) {
      await(node.submit(poisonous(null, ""))).refused(RefusalCode.INTERNAL);
    }
    assertEquals(3, node.faults());
    assertFalse(node.told.contains("leads false"), "it changed nothing");
    assertWorks();
    assertNotFatal();
  }

  @Test
  void shouldRefuseWhatCannotBeAppliedAndStepDownBeforeItIsWritten() {
    for (int term = 1; term <= 3; term++) {
      int lost = term;
      await(node.submit(poisonous("default", null))).refused(RefusalCode.INTERNAL);
      awaitUntil(
          "it steps down",
          () -> node.told.stream().filter(word -> word.equals("leads false")).count() == lost);
      node.awaitLeading();
    }
    assertEquals(3, node.faults());
    assertNotFatal();
    int runs = node.read(view -> view.state().runs().size());
    assertEquals(0, runs, "nothing of it is there");
    assertWorks();
  }

  @Test
  void shouldNotCareHowACallerTakesItsAnswer() {
    CompletableFuture<Void> called = new CompletableFuture<>();
    node.strand.execute(() -> {
      // Both wait for the same entry.
      node.loop.submit(
          nodes.submission(Workflows.one("a")),
          (answer, seq) -> {
            called.complete(null);
            throw new IllegalStateException("a caller's bug");
          });
    });
    CompletableFuture<Heard> other = node.submit(nodes.submission(Workflows.one("b")));
    await(called);
    await(other).submitted();
    awaitUntil("it is counted", () -> node.faults() == 1);
    assertFalse(node.told.contains("leads false"));
    assertWorks();
  }

  @Test
  void shouldRefuseAReadThatFailsAndGoOn() {
    CompletableFuture<Object> read =
        node.read(
            0,
            SOON,
            view -> {
              throw new IllegalStateException("a query's bug");
            });
    CompletionException failure = assertThrows(CompletionException.class, () -> await(read));
    RefusedRead refused = assertInstanceOf(RefusedRead.class, failure.getCause());
    assertEquals(RefusalCode.INTERNAL, refused.refusal.code());
    node.loop.read(
        0,
        SOON,
        ReadView::seq,
        (found, refusal) -> {
          throw new IllegalStateException("a caller's bug");
        });
    awaitUntil("both are counted", () -> node.faults() == 2);
    assertFalse(node.told.contains("leads false"));
    assertWorks();
  }

  @Test
  @SuppressWarnings("NullAway") // What a bug could hand over.
  void shouldDropAReportThatFailsAndGoOn() {
    WorkerReport.Finished odd =
        new WorkerReport.Finished(null, Outcome.SUCCESS, "x".repeat(5000), "", 1, false);
    CompletableFuture<Void> taken = new CompletableFuture<>();
    node.strand.execute(() ->
        node.loop.onReport(
            worker.life,
            new WorkerReport(null, List.of(odd), List.of(), List.of(), List.of()),
            () -> taken.complete(null)));
    await(taken);
    awaitUntil("it is counted", () -> node.faults() == 1);
    assertFalse(node.told.contains("leads false"));
    assertWorks();
  }

  @Test
  void shouldReadItsStateAgainWhenATaskOfTheLoopFails() {
    RunId id = node.run(nodes.submission(Workflows.one("a")));
    node.strand.execute(() -> {
      throw new IllegalStateException("a bug");
    });
    awaitUntil("it steps down", () -> node.told.contains("leads false"));
    node.awaitLeading();
    assertTrue(node.isLive(id));
    assertNotFatal();
    assertEquals(1, node.faults());
    assertWorks();
    node.strand.execute(() -> {
      throw new IllegalStateException("a bug");
    });
    awaitUntil(
        "the process is to end",
        () -> node.told.stream().anyMatch(word -> word.startsWith("fatal a second fault")));
    assertEquals(Role.STOPPED, node.loop.status().role());
    awaitUntil("another can lead", () -> !exists(keys.leader()));
  }

  @Test
  void shouldReadItsStateAgainWhenATaskOfAFollowerFails() {
    Node follower = nodes.node("n2").awaitStandby();
    follower.strand.execute(() -> {
      throw new IllegalStateException("a bug");
    });
    awaitUntil(
        "it loads again",
        () -> follower.told.stream().filter(word -> word.equals("loaded true")).count() == 2);
    long seq = await(node.submit(nodes.submission(Workflows.one("a")))).seq();
    await(follower.read(seq, SOON, ReadView::seq));
    assertEquals(1, follower.faults());
  }

  @Test
  void shouldDropAnInventoryThatFitsIntoNoEntry() {
    List<AttemptName> names =
        IntStream.range(0, 20_000)
            .mapToObj(i -> new AttemptName(new RunId(1, i).toString(), "a", 1))
            .toList();
    long term = Objects.requireNonNull(node.loop.leader()).term();
    node.hear(
        worker.life,
        new WorkerReport(
            new WorkerReport.Inventory(term, names, List.of(), List.of(), List.of()),
            List.of(),
            List.of(),
            List.of(),
            List.of()));
    awaitUntil("it is dropped", () -> node.told.contains("dropped TakeInventory"));
    assertWorks();
  }

  @Test
  void shouldNotSpinWhenARunsTimeIsOverWhileSomethingLargerWaits() {
    RunId id = node.run(nodes.submission("name: slow\ntimeout: 10m\ntasks: [{id: a, type: echo}]"));
    awaitUntil("it runs", () -> worker.hasReceived("a", 1));
    AttemptName a = Objects.requireNonNull(worker.find("a", 1)).name();
    node.appends.down = true;
    String params = "{\"x\":\"" + "p".repeat(2_000) + "\"}";
    List<CompletableFuture<Heard>> submitted =
        IntStream.range(0, 80)
            .mapToObj(i -> node.submit(nodes.submission(Workflows.one("filler"), params, "")))
            .toList();
    List<AttemptName> names =
        IntStream.range(0, 9_500)
            .mapToObj(i -> new AttemptName(new RunId(1, i).toString(), "a", 1))
            .toList();
    node.hear(
        worker.life,
        new WorkerReport(
            new WorkerReport.Inventory(
                node.loop.leader().term(), names, List.of(), List.of(), List.of()),
            List.of(),
            List.of(),
            List.of(),
            List.of()));
    node.advance(Duration.ofMinutes(11));
    node.onStrand(() -> true);
    awaitAlways("it ticks", Duration.ofMillis(300), () -> true);
    node.onStrand(() -> true);
    node.appends.down = false;
    submitted.forEach(heard -> await(heard).submitted());
    awaitUntil("the cancel", () -> worker.cancels().contains(a));
    worker.end(a, Outcome.CANCELLED, "", "stopped", false);
    awaitUntil("the ack", () -> worker.acks(a).contains(Verdict.ACCEPTED));
    assertEquals(0, node.faults(), node.told::toString);
    assertTrue(node.isLive(id));
  }
}
