package dev.baton.cli.conformance;

import dev.baton.proto.v1.DeregisterRequest;
import dev.baton.proto.v1.DeregisterResponse;
import dev.baton.proto.v1.HeartbeatRequest;
import dev.baton.proto.v1.HeartbeatResponse;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.RegisterResponse;
import dev.baton.proto.v1.SchedulerAddress;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkflowServiceGrpc;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A scheduler node that says what a check wants. */
final class ProbeNode extends WorkflowServiceGrpc.WorkflowServiceImplBase implements AutoCloseable {
  static final int LEASE_SECONDS = 6;
  static final int HEARTBEAT_SECONDS = 1;

  private final String id;
  private final Book book;
  private final Lease lease;
  private final Supplier<List<SchedulerAddress>> nodes;
  private final Server server;
  private volatile boolean answering = true;
  private @Nullable StreamObserver<SchedulerMessage> wire;

  /** The registration, of which all nodes know the same. */
  static final class Lease {
    private long id = 1;
    private boolean stands;

    synchronized long register() {
      if (!stands) {
        stands = true;
        id++;
      }
      return id;
    }

    /** 0: it has ended. */
    synchronized long renew() {
      return stands ? id : 0;
    }

    synchronized void end() {
      stands = false;
    }
  }

  /**
   * @param nodes what workers are told of
   */
  ProbeNode(String id, Book book, Lease lease, Supplier<List<SchedulerAddress>> nodes)
      throws IOException {
    this.id = id;
    this.book = book;
    this.lease = lease;
    this.nodes = nodes;
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .maxInboundMessageSize(4 << 20)
            .addService(this)
            .build()
            .start();
  }

  String id() {
    return id;
  }

  String address() {
    return "127.0.0.1:" + server.getPort();
  }

  /** Whether it answers calls about the registration; the streams stay. */
  void answer(boolean answers) {
    answering = answers;
  }

  /** Says something on the stream that is open now; nothing, if none is. */
  synchronized void say(SchedulerMessage.Builder message) {
    StreamObserver<SchedulerMessage> open = wire;
    if (open != null) {
      open.onNext(message.setNodeId(id).build());
    }
  }

  synchronized void breakStream() {
    StreamObserver<SchedulerMessage> open = wire;
    wire = null;
    if (open != null) {
      open.onError(Status.UNAVAILABLE.withDescription("The check breaks it.").asException());
    }
  }

  @Override
  public void register(RegisterRequest request, StreamObserver<RegisterResponse> caller) {
    if (!answering) {
      caller.onError(silent());
      return;
    }
    book.registered(request);
    caller.onNext(
        RegisterResponse.newBuilder()
            .setAccepted(true)
            .setHeartbeatIntervalSec(HEARTBEAT_SECONDS)
            .setLeaseSec(LEASE_SECONDS)
            .setLeaseId(lease.register())
            .addAllSchedulers(nodes.get())
            .build());
    caller.onCompleted();
  }

  @Override
  public void heartbeat(HeartbeatRequest request, StreamObserver<HeartbeatResponse> caller) {
    book.heartbeat(id);
    if (!answering) {
      caller.onError(silent());
      return;
    }
    long standing = lease.renew();
    caller.onNext(
        standing == 0
            ? HeartbeatResponse.newBuilder()
                .setMessage("The check has ended the registration.")
                .build()
            : HeartbeatResponse.newBuilder()
                .setOk(true)
                .setLeaseSec(LEASE_SECONDS)
                .setLeaseId(standing)
                .addAllSchedulers(nodes.get())
                .build());
    caller.onCompleted();
  }

  @Override
  public void deregister(DeregisterRequest request, StreamObserver<DeregisterResponse> caller) {
    book.deregistered();
    caller.onNext(DeregisterResponse.getDefaultInstance());
    caller.onCompleted();
  }

  private static Exception silent() {
    return Status.UNAVAILABLE.withDescription("The check does not answer.").asException();
  }

  @Override
  public StreamObserver<WorkerMessage> assignTask(StreamObserver<SchedulerMessage> answers) {
    synchronized (this) {
      wire = answers;
    }
    return new StreamObserver<>() {
      private boolean first = true;

      @Override
      public void onNext(WorkerMessage message) {
        if (message.hasPing()) {
          reply(
              answers,
              SchedulerMessage.newBuilder()
                  .setNodeId(id)
                  .setIncarnation(message.getIncarnation())
                  .setPong(Pong.newBuilder().setNonce(message.getPing().getNonce()))
                  .build());
        }
        book.said(new Book.Said(id, first, message));
        first = false;
      }

      @Override
      public void onError(Throwable failure) {
        over(answers);
      }

      @Override
      public void onCompleted() {
        over(answers);
      }
    };
  }

  @SuppressWarnings("ReferenceEquality") // this very stream
  private synchronized void reply(
      StreamObserver<SchedulerMessage> stream, SchedulerMessage message) {
    if (wire == stream) {
      stream.onNext(message);
    }
  }

  @SuppressWarnings("ReferenceEquality") // this very stream
  private synchronized void over(StreamObserver<SchedulerMessage> stream) {
    if (wire == stream) {
      wire = null;
    }
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
