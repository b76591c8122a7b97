package dev.baton.scheduler.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.proto.journal.v1.PeerServiceGrpc;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.proto.journal.v1.TakeSnapshotRequest;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.scheduler.testing.RealEtcd;
import dev.baton.scheduler.testing.WiredNode;
import dev.baton.scheduler.testing.Workflows;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
  void shouldFailForANodeThatIsNotThere() {
    for (String address : List.of("127.0.0.1:1", "", "no address", ":::")) {
      assertThrows(
          CompletionException.class, () -> await(leader.peers.askSnapshot(address)), address);
    }
  }
}
