package dev.baton.scheduler.dispatch;

import dev.baton.proto.journal.v1.PeerServiceGrpc;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.proto.journal.v1.TakeSnapshotRequest;
import dev.baton.scheduler.loop.Peers;
import dev.baton.scheduler.loop.SchedulerLoop;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The wire between scheduler nodes, both ends of it. */
public final class GrpcPeers extends PeerServiceGrpc.PeerServiceImplBase implements Peers {
  private static final long SNAPSHOT_DEADLINE_SECONDS = 120;

  private final long generation;
  private final Function<String, ManagedChannel> channels;
  private final Executor executor;
  private @Nullable SchedulerLoop loop;

  /**
   * @param channels a channel to an address, shared and closed by its owner
   * @param executor runs what follows an answer
   */
  public GrpcPeers(long generation, Function<String, ManagedChannel> channels, Executor executor) {
    this.generation = generation;
    this.channels = channels;
    this.executor = executor;
  }

  /** The loop that answers; before the server is started. */
  public void attach(SchedulerLoop loop) {
    this.loop = loop;
  }

  @Override
  public CompletableFuture<SnapshotManifest> askSnapshot(String apiAddress) {
    CompletableFuture<SnapshotManifest> answer = new CompletableFuture<>();
    try {
      PeerServiceGrpc.newStub(channels.apply(apiAddress))
          .withDeadlineAfter(SNAPSHOT_DEADLINE_SECONDS, TimeUnit.SECONDS)
          .takeSnapshot(
              TakeSnapshotRequest.newBuilder().setGeneration(generation).build(),
              new Waiting(answer));
    } catch (RuntimeException e) {
      // The address stands in another node's key, and may be anything.
      answer.completeExceptionally(e);
    }
    return answer;
  }

  private record Waiting(CompletableFuture<SnapshotManifest> answer)
      implements StreamObserver<SnapshotManifest> {
    @Override
    public void onNext(SnapshotManifest manifest) {
      answer.complete(manifest);
    }

    @Override
    public void onError(Throwable failure) {
      answer.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {
      answer.completeExceptionally(
          new IllegalStateException("Expected a manifest, but the call ended without one"));
    }
  }

  @Override
  public void takeSnapshot(TakeSnapshotRequest request, StreamObserver<SnapshotManifest> answer) {
    SchedulerLoop follower = loop;
    if (follower == null || request.getGeneration() != generation) {
      answer.onError(
          Status.FAILED_PRECONDITION
              .withDescription("This node is of another generation, or still starting.")
              .asRuntimeException());
      return;
    }
    var unused =
        follower
            .takeSnapshot()
            .whenCompleteAsync(
                (manifest, failure) -> {
                  if (failure == null) {
                    answer.onNext(manifest);
                    answer.onCompleted();
                  } else {
                    answer.onError(
                        Status.FAILED_PRECONDITION
                            .withDescription(failure.getMessage())
                            .asRuntimeException());
                  }
                },
                executor);
  }
}
