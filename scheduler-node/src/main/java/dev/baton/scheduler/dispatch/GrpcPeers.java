package dev.baton.scheduler.dispatch;

import dev.baton.coordination.FailureDetector;
import dev.baton.proto.journal.v1.PeerServiceGrpc;
import dev.baton.proto.journal.v1.PingRequest;
import dev.baton.proto.journal.v1.PingResponse;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.proto.journal.v1.TakeSnapshotRequest;
import dev.baton.scheduler.loop.Peers;
import dev.baton.scheduler.loop.SchedulerLoop;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The wire between scheduler nodes, both ends of it. */
public final class GrpcPeers extends PeerServiceGrpc.PeerServiceImplBase implements Peers {
  private static final Logger LOG = LoggerFactory.getLogger(GrpcPeers.class);
  private static final long SNAPSHOT_DEADLINE_SECONDS = 120;

  /** A line for pings is opened afresh after this long: every call has a deadline. */
  private static final Duration LINE_LIFE = Duration.ofHours(1);

  private final long generation;
  private final String incarnation;
  private final Function<String, ManagedChannel> channels;
  private final Executor executor;
  private @Nullable SchedulerLoop loop;

  /**
   * @param incarnation of this process
   * @param channels a channel to an address, shared and closed by its owner
   * @param executor runs what follows an answer
   */
  public GrpcPeers(
      long generation,
      String incarnation,
      Function<String, ManagedChannel> channels,
      Executor executor) {
    this.generation = generation;
    this.incarnation = incarnation;
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

  // Pings.

  @Override
  public FailureDetector.Line open(String apiAddress, FailureDetector.LineListener listener) {
    try {
      ManagedChannel channel = channels.apply(apiAddress);
      // What this channel met before does not matter: it is asked now.
      channel.resetConnectBackoff();
      PingLine line = new PingLine(listener);
      PeerServiceGrpc.newStub(channel)
          .withDeadlineAfter(LINE_LIFE.toSeconds(), TimeUnit.SECONDS)
          .ping(line);
      return line;
    } catch (RuntimeException e) {
      LOG.warn("The node at '{}' cannot be pinged: {}", apiAddress, e.toString());
      listener.onBroken();
      return new PingLine(listener);
    }
  }

  /** The client's end; its methods are called on the detector's strand. */
  private static final class PingLine
      implements FailureDetector.Line, ClientResponseObserver<PingRequest, PingResponse> {
    private final FailureDetector.LineListener listener;
    private volatile @Nullable ClientCallStreamObserver<PingRequest> requests;
    private boolean hasSent;

    PingLine(FailureDetector.LineListener listener) {
      this.listener = listener;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<PingRequest> stream) {
      requests = stream;
    }

    @Override
    public void ping() {
      ClientCallStreamObserver<PingRequest> stream = requests;
      // One that is not ready has a ping to send already.
      if (stream != null && (!hasSent || stream.isReady())) {
        hasSent = true;
        stream.onNext(PingRequest.getDefaultInstance());
      }
    }

    @Override
    public void close() {
      ClientCallStreamObserver<PingRequest> stream = requests;
      if (stream != null) {
        requests = null;
        stream.cancel("not watched any more", null);
      }
    }

    @Override
    public void onNext(PingResponse pong) {
      listener.onPong(pong.getIncarnation());
    }

    @Override
    public void onError(Throwable failure) {
      requests = null;
      listener.onBroken();
    }

    @Override
    public void onCompleted() {
      requests = null;
      listener.onBroken();
    }
  }

  @Override
  public CompletableFuture<Boolean> isRefused(String apiAddress) {
    return Ports.knock(apiAddress);
  }

  @Override
  public StreamObserver<PingRequest> ping(StreamObserver<PingResponse> answer) {
    ServerCallStreamObserver<PingResponse> pongs = (ServerCallStreamObserver<PingResponse>) answer;
    pongs.setOnCancelHandler(() -> {});
    PingResponse pong = PingResponse.newBuilder().setIncarnation(incarnation).build();
    return new StreamObserver<>() {
      @Override
      public void onNext(PingRequest ping) {
        onLoop(() -> {
          if (pongs.isReady()) {
            pongs.onNext(pong);
          }
        });
      }

      @Override
      public void onError(Throwable failure) {}

      @Override
      public void onCompleted() {
        onLoop(pongs::onCompleted);
      }

      private void onLoop(Runnable reply) {
        SchedulerLoop answering = loop;
        if (answering != null) {
          answering.onPing(() -> {
            if (!pongs.isCancelled()) {
              reply.run();
            }
          });
        }
      }
    };
  }

  // Snapshots.

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
