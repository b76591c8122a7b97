package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.LoopCluster.Heard;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.Operator;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A leader whose etcd has used up its quota, until there is room again. */
class NoSpaceTest extends RealEtcd {
  private LoopCluster nodes;
  private Node node;
  private TestWorker worker;

  NoSpaceTest() {
    super(1, "--quota-backend-bytes", Integer.toString(16 << 20));
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

  private static final String LONG_PARAMS = "{\"x\":\"" + "p".repeat(3_000) + "\"}";

  private void fill(Keys junk) {
    for (int i = 0; i < 100; i++) {
      List<Op> ops = List.of(new Op.Put(junk.spec(i), ByteString.copyFrom(new byte[1 << 20]), 0));
      Kind kind =
          await(
              etcd.txn(new Txn(List.of(), ops, List.of()), SOON)
                  .handle((reply, failure) ->
                      failure == null ? Kind.UNKNOWN_OUTCOME : EtcdException.of(failure).kind()));
      if (kind == Kind.NO_SPACE) {
        return;
      }
    }
    throw new AssertionError("etcd took everything");
  }

  @Test
  void shouldTakeNothingNewAndFinishWhatRunsOnceThereIsRoom() {
    RunId id = node.run(nodes.submission(Workflows.wide("w", 2)));
    awaitUntil("they run", () -> worker.hasReceived("t0", 1) && worker.hasReceived("t1", 1));
    AttemptName first = Objects.requireNonNull(worker.find("t0", 1)).name();
    AttemptName second = Objects.requireNonNull(worker.find("t1", 1)).name();

    Keys junk = new Keys("junk");
    fill(junk);
    CompletableFuture<Heard> early = node.submit(nodes.submission(Workflows.one("w")));
    CompletableFuture<Heard> stored =
        node.submit(nodes.submission(Workflows.one("w"), LONG_PARAMS, ""));
    worker.succeed(first, "1");
    awaitUntil("it stalls", () -> node.told.contains("stalled true"));
    assertEquals(
        "etcd is out of space, or nearly: nothing new is taken until there is room; running work"
            + " goes on.",
        await(node.submit(nodes.submission(Workflows.one("w"))))
            .refused(RefusalCode.STORE_FULL)
            .message());
    await(stored).refused(RefusalCode.STORE_FULL);
    worker.succeed(second, "2");
    awaitAlways(
        "it stays leader, and says nothing that is not durable",
        Duration.ofMillis(2_500),
        () -> worker.acks(first).isEmpty() && node.isLeading() && !early.isDone());

    write(List.of(new Op.DeleteRange(junk.specs(), Keys.end(junk.specs()))));
    compactNow();
    try (Operator operator = new Operator(cluster.endpoints().getFirst())) {
      operator.makeRoom();
    }
    awaitUntil("it resumes", () -> node.told.contains("stalled false"));
    assertFalse(await(early).submitted().existing(), "it was taken before, and is not lost");
    awaitUntil("the acks", () -> worker.acks(first).equals(List.of(Verdict.ACCEPTED)));
    awaitUntil("the acks", () -> worker.acks(second).equals(List.of(Verdict.ACCEPTED)));
    node.awaitRetired(id);
    node.run(nodes.submission(Workflows.one("w"), LONG_PARAMS, ""));
    assertFalse(node.told.contains("leads false"), "by itself, without a fail-over");
    assertEquals(0, node.faults(), node.told::toString);
  }

  @Test
  void shouldTakeNothingNewWhenLittleIsLeft() {
    node.storeIsFull = true;
    await(node.submit(nodes.submission(Workflows.one("w")))).refused(RefusalCode.STORE_FULL);
    node.storeIsFull = false;
    RunId id = node.run(nodes.submission(Workflows.one("w")));
    assertTrue(node.isLive(id));
  }
}
