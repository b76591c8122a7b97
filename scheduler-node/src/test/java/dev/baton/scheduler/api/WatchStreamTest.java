package dev.baton.scheduler.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.WatchRunRequest;
import dev.baton.proto.v1.WatchRunResponse;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stream to one user, over a real channel. */
class WatchStreamTest {
  private final CompletableFuture<WatchStream> opened = new CompletableFuture<>();
  private Server server;
  private ManagedChannel channel;
  private Client client;

  /** Hands the stream that a user opens to the test. */
  private final class Service extends BatonServiceGrpc.BatonServiceImplBase {
    @Override
    public void watchRun(WatchRunRequest request, StreamObserver<WatchRunResponse> caller) {
      ServerCallStreamObserver<WatchRunResponse> wire =
          (ServerCallStreamObserver<WatchRunResponse>) caller;
      WatchStream stream = new WatchStream(wire);
      wire.setOnReadyHandler(stream::drain);
      wire.setOnCancelHandler(stream::cancelled);
      opened.complete(stream);
    }
  }

  /** A user who reads when the test says so. */
  private static final class Client
      implements ClientResponseObserver<WatchRunRequest, WatchRunResponse> {
    final List<WatchRunResponse> responses = new CopyOnWriteArrayList<>();
    final CompletableFuture<Status> ended = new CompletableFuture<>();
    @Nullable ClientCallStreamObserver<WatchRunRequest> wire;

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchRunRequest> wire) {
      this.wire = wire;
      wire.disableAutoRequestWithInitial(0);
    }

    void read(int count) {
      Objects.requireNonNull(wire).request(count);
    }

    @Override
    public void onNext(WatchRunResponse response) {
      responses.add(response);
    }

    @Override
    public void onError(Throwable failure) {
      ended.complete(Status.fromThrowable(failure));
    }

    @Override
    public void onCompleted() {
      ended.complete(Status.OK);
    }
  }

  @BeforeEach
  void start() throws IOException {
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new Service())
            .build()
            .start();
    channel =
        NettyChannelBuilder.forTarget("127.0.0.1:" + server.getPort())
            .usePlaintext()
            .flowControlWindow(65_535)
            .build();
    client = new Client();
    BatonServiceGrpc.newStub(channel).watchRun(WatchRunRequest.getDefaultInstance(), client);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  private WatchStream stream() {
    return RealEtcd.await(opened);
  }

  private static WatchRunResponse response(int seq, int bytes) {
    return WatchRunResponse.newBuilder()
        .setSeq(seq)
        .setRun(Run.newBuilder().setReason("r".repeat(bytes)))
        .build();
  }

  @Test
  void shouldHandOverEverythingAndEndWithTheLast() {
    for (int i = 0; i < 100; i++) {
      stream().send(response(i, 10), i == 99);
    }
    client.read(1_000);
    assertEquals(Status.Code.OK, RealEtcd.await(client.ended).getCode());
    assertEquals(100, client.responses.size());
    assertEquals(99, client.responses.getLast().getSeq());
    assertTrue(stream().isOver());
  }

  @Test
  void shouldCutOffAUserWhoDoesNotRead() {
    int sent = 0;
    while (!stream().isOver() && sent < 20_000) {
      stream().send(response(sent, 200), false);
      sent++;
    }
    assertTrue(sent > 1_000 && sent < 20_000, "it bore with a thousand or so");
    assertCutOff();
  }

  @Test
  void shouldCutOffAUserWhoDoesNotReadWhatIsLarge() {
    int sent = 0;
    while (!stream().isOver() && sent < 900) {
      stream().send(response(sent, 100_000), false);
      sent++;
    }
    assertTrue(sent > 80 && sent < 200, "it bore with 8 MiB or so");
    assertCutOff();
  }

  private void assertCutOff() {
    client.read(100_000);
    Status status = RealEtcd.await(client.ended);
    assertEquals(Status.Code.UNAVAILABLE, status.getCode());
    assertEquals("The watch is not read: open it again.", status.getDescription());
    stream().send(response(1, 1), true);
    stream().gone();
  }

  @Test
  void shouldBearWithOneLongAnswer() {
    stream().send(response(0, 3 << 20), false);
    stream().send(response(1, 10), true);
    client.read(2);
    assertEquals(Status.Code.OK, RealEtcd.await(client.ended).getCode());
  }

  @Test
  void shouldKnowThatTheUserHasGone() {
    assertFalse(stream().isOver());
    Objects.requireNonNull(client.wire).cancel("The test ends it.", null);
    RealEtcd.awaitUntil("it is over", () -> stream().isOver());
    stream().send(response(0, 10), false);
  }
}
