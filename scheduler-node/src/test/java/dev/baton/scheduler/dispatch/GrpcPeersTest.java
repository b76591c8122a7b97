package dev.baton.scheduler.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.FailureDetector;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.journal.v1.PeerServiceGrpc;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.proto.journal.v1.TakeSnapshotRequest;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.scheduler.testing.WiredNode;
import dev.baton.scheduler.testing.Workflows;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GrpcPeersTest extends RealEtcd {
  private WiredNode leader;
  private WiredNode standby;

  GrpcPeersTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    leader = new WiredNode("n1", this::client, keys).awaitLeading();
    standby = new WiredNode("n2", this::client, keys).awaitStandby();
  }

  @AfterEach
  void stop() {
    standby.close();
    leader.close();
    assertEquals(List.of(), leader.faults);
  }

  @Test
  void shouldTakeASnapshotOfWhatItHasApplied() {
    long seq =
        leader
            .api()
            .submitRun(SubmitRunRequest.newBuilder().setDefinition(Workflows.one("w")).build())
            .getSeq();
    await(standbyAt(seq));
    SnapshotManifest manifest = await(leader.peers.askSnapshot(standby.address));
    assertEquals(seq, manifest.getSeq());
    assertEquals(manifest.getChunks(), list(keys.snapshots(seq)).size());
  }

  private CompletableFuture<Void> standbyAt(long seq) {
    CompletableFuture<Void> there = new CompletableFuture<>();
    standby.loop.read(seq, SOON, view -> view.seq(), (found, refusal) -> there.complete(null));
    return there;
  }

  @Test
  void shouldFailForANodeThatDoesNotFollow() {
    CompletionException failure =
        assertThrows(
            CompletionException.class, () -> await(standby.peers.askSnapshot(leader.address)));
    assertEquals(
        Status.Code.FAILED_PRECONDITION, Status.fromThrowable(failure.getCause()).getCode());
    assertTrue(failure.toString().contains("Expected a standby, but this node is LEADING"));
  }

  @Test
  void shouldRefuseAnotherGeneration() {
    StatusRuntimeException refusal =
        assertThrows(
            StatusRuntimeException.class,
            () ->
                PeerServiceGrpc.newBlockingStub(standby.channel())
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .takeSnapshot(TakeSnapshotRequest.newBuilder().setGeneration(1).build()));
    assertEquals(Status.Code.FAILED_PRECONDITION, refusal.getStatus().getCode());
  }

  @Test
  void shouldPingTheLoopOfAnotherNodeUntilItIsGone() {
    WiredNode other = new WiredNode("n3", this::client, keys).awaitStandby();
    List<String> told = new CopyOnWriteArrayList<>();
    FailureDetector.Line line = leader.peers.open(other.address, new Told(told));
    line.ping();
    awaitUntil("a pong", () -> told.equals(List.of(other.incarnation)));
    line.ping();
    awaitUntil("another", () -> told.equals(List.of(other.incarnation, other.incarnation)));
    other.close();
    awaitUntil("it breaks", () -> told.getLast().equals("broken"));
    assertEquals(3, told.size());
    line.ping();
    line.close();
    assertTrue(await(leader.peers.isRefused(other.address)));
    assertFalse(await(leader.peers.isRefused(standby.address)));
  }

  @Test
  void shouldTellOfNothingAfterItWasClosed() {
    List<String> told = new CopyOnWriteArrayList<>();
    FailureDetector.Line line = leader.peers.open(standby.address, new Told(told));
    line.ping();
    awaitUntil("a pong", () -> !told.isEmpty());
    line.close();
    line.ping();
    line.close();
    awaitAlways(
        "no pong after it",
        Duration.ofMillis(300),
        () -> told.stream().filter(standby.incarnation::equals).count() == 1);
  }

  @Test
  void shouldBreakWhereNobodyIs() {
    for (String address : List.of("127.0.0.1:1", "", "no address", ":::")) {
      List<String> told = new CopyOnWriteArrayList<>();
      FailureDetector.Line line = leader.peers.open(address, new Told(told));
      line.ping();
      awaitUntil(address + " breaks", () -> told.equals(List.of("broken")));
      line.close();
    }
    for (String address : List.of("", "no address", ":::")) {
      assertThrows(
          CompletionException.class, () -> await(leader.peers.isRefused(address)), address);
    }
  }

  private record Told(List<String> words) implements FailureDetector.LineListener {
    @Override
    public void onPong(String incarnation) {
      words.add(incarnation);
    }

    @Override
    public void onBroken() {
      words.add("broken");
    }
  }

  @Test
  void shouldFailForANodeThatIsNotThere() {
    for (String address : List.of("127.0.0.1:1", "", "no address", ":::")) {
      assertThrows(
          CompletionException.class, () -> await(leader.peers.askSnapshot(address)), address);
    }
  }
}
