package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Txn;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.LoopCluster.Heard;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.loop.LoopCluster.RefusedRead;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What happens to more than there is room for. */
class BoundsTest extends RealEtcd {
  private static final String LONG_PARAMS = "{\"x\":\"" + "p".repeat(3_000) + "\"}";

  /**
   * No test here is about a leader that loses its lease, so none does, however slow the machine.
   */
  private static final Duration STEADY = Duration.ofSeconds(60);

  /** More than two entries of submissions: what waits must be limited by the entries. */
  private static final int MAX_LIVE = 1_200;

  private LoopCluster nodes;
  private Node node;
  private TestWorker worker;

  BoundsTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys, STEADY);
    node =
        nodes
            .node(
                "n1",
                s ->
                    new LoopSettings(
                        s.nodeId(),
                        MAX_LIVE,
                        s.retainRuns(),
                        s.retainFor(),
                        s.snapshotBytes(),
                        s.snapshotEntries()))
            .awaitLeading();
    worker = nodes.worker("w", 8);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  private List<CompletableFuture<Heard>> submit(int count, String paramsJson) {
    return IntStream.range(0, count)
        .mapToObj(i -> node.submit(nodes.submission(Workflows.one("w"), paramsJson, "")))
        .toList();
  }

  @Test
  void shouldRefuseCallsThatComeWhileVeryManyWait() {
    CountDownLatch held = new CountDownLatch(1);
    node.strand.execute(() -> awaitLatch(held));
    AtomicInteger refused = new AtomicInteger();
    RunId unknown = new RunId(1, 1);
    for (int i = 0; i < Requests.CAPACITY; i++) {
      node.loop.cancel(unknown, "", "", (answer, seq) -> refused.incrementAndGet());
    }
    assertEquals(0, refused.get());
    Refusal refusal = await(node.cancel(unknown)).refused(RefusalCode.OVERLOADED);
    assertTrue(refusal.retryAfter().compareTo(Duration.ZERO) > 0);
    held.countDown();
    awaitUntil("all have heard", () -> refused.get() == Requests.CAPACITY);
    await(node.cancel(unknown)).refused(RefusalCode.RUN_NOT_FOUND);
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void shouldRefuseRunsWhileVeryManyTasksAreLive() {
    node.run(nodes.submission(Workflows.wide("w", MAX_LIVE - 1)));
    node.run(nodes.submission(Workflows.one("w")));
    Refusal refusal =
        await(node.submit(nodes.submission(Workflows.one("w")))).refused(RefusalCode.OVERLOADED);
    assertEquals(
        MAX_LIVE
            + " tasks are live and the limit is "
            + MAX_LIVE
            + ": try again when some have ended.",
        refusal.message());
  }

  @Test
  void shouldTakeALargerRunThanTheLimitWhenNothingElseIsLive() {
    node.run(nodes.submission(Workflows.wide("w", MAX_LIVE + 100)));
  }

  @Test
  void shouldStoreFewLongParametersAtOnce() {
    node.reads.failing = txn -> true;
    List<CompletableFuture<Heard>> submitted = submit(60, LONG_PARAMS);
    awaitAlways(
        "they wait",
        Duration.ofMillis(500),
        () -> submitted.stream().noneMatch(CompletableFuture::isDone));
    assertEquals(16, paramsSent().size());
    node.reads.failing = txn -> false;
    submitted.forEach(heard -> await(heard).submitted());
    assertEquals(60, paramsSent().size());
    assertEquals(60, list(keys.params()).size());
  }

  private Set<ByteString> paramsSent() {
    return node.reads.sent.stream()
        .flatMap(txn -> txn.then().stream())
        .filter(Txn.Op.Put.class::isInstance)
        .map(op -> ((Txn.Op.Put) op).key())
        .filter(key -> key.startsWith(keys.params()))
        .collect(Collectors.toSet());
  }

  @Test
  void shouldRefuseReadsOnTheLeaderThatEtcdDoesNotConfirmInTime() {
    node.appends.down = true;
    CompletableFuture<Long> read = node.read(0, Duration.ofMillis(300), ReadView::seq);
    assertEquals(RefusalCode.NOT_READY, refusalOf(read).code());
    node.appends.down = false;
    node.read(ReadView::seq);
  }

  @Test
  void shouldRefuseReadsOnTheLeaderWhileVeryManyWait() {
    node.appends.down = true;
    for (int i = 0; i < 10_000; i++) {
      node.loop.read(0, SOON, ReadView::seq, (found, refusal) -> {});
    }
    CompletableFuture<Long> read = node.read(0, SOON, ReadView::seq);
    assertTrue(refusalOf(read).message().startsWith("10000 reads wait for etcd at this node"));
    node.appends.down = false;
    awaitUntil(
        "they are answered",
        () -> node.read(0, SOON, ReadView::seq).handle((seq, failure) -> failure == null).join());
  }

  private static Refusal refusalOf(CompletableFuture<?> read) {
    return await(
        read.handle((found, failure) -> {
          Throwable cause =
              failure instanceof CompletionException && failure.getCause() != null
                  ? failure.getCause()
                  : failure;
          return ((RefusedRead) Objects.requireNonNull(cause)).refusal;
        }));
  }

  @Test
  void shouldDropInternalCommandsWhileVeryManyWait() {
    node.appends.down = true;
    int before = node.appends.sent.size();
    List<CompletableFuture<Heard>> submitted = submit(600, "{\"x\":\"" + "p".repeat(2_000) + "\"}");
    awaitUntil("an entry is in flight", () -> node.appends.sent.size() > before);
    // The turn that comes after the one that sent it fills the next: 600 need more than two.
    node.onStrand(() -> true);
    node.onStrand(() -> true);
    for (int i = 0; i < 20_050; i++) {
      AttemptName name = new AttemptName(new RunId(1, i).toString(), "a", 1);
      worker.repeat(new WorkerReport.Finished(name, Outcome.SUCCESS, "1", "", 1, false));
    }
    awaitUntil("some are dropped", () -> node.told.contains("dropped TakeResult"));
    node.appends.down = false;
    // Those that found no room while etcd was away are refused; nobody is left without an answer.
    submitted.forEach(RealEtcd::await);
    AttemptName one = new AttemptName(new RunId(1, 0).toString(), "a", 1);
    awaitUntil("the others are judged", () -> worker.acks(one).contains(Verdict.UNKNOWN));
    assertEquals(0, node.faults(), node.told::toString);
  }

  @Test
  void shouldNotTakeAWorkerForLostWhoseReportsItHolds() {
    RunId id = node.run(nodes.submission(Workflows.one("w")));
    awaitUntil("it runs", () -> worker.hasReceived("a", 1));
    AttemptName a = Objects.requireNonNull(worker.find("a", 1)).name();
    node.reads.failing = txn -> true;
    worker.succeed(a, "\"" + "s".repeat(3_000) + "\"");
    worker.mute();
    node.onStrand(() -> true);
    node.strand.execute(() ->
        node.clock.observe(
            node.clock.now(node.strand.nanoTime()) + 60_000, node.strand.nanoTime()));
    awaitAlways("it ticks", Duration.ofMillis(400), () -> true);
    node.reads.failing = txn -> false;
    node.awaitStatus(id, RunStatus.SUCCESS);
    assertFalse(worker.hasReceived("a", 2));
  }
}
