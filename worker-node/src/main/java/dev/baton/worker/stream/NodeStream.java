package dev.baton.worker.stream;

import dev.baton.coordination.Strand;
import dev.baton.coordination.Strand.Timer;
import dev.baton.node.RateLimited;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkflowServiceGrpc;
import io.github.resilience4j.core.IntervalFunction;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.netty.channel.ChannelOption;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stream to one scheduler node, over a channel of its own.
 *
 * <p>One message at a time comes in: the next is asked for once the strand has dealt with it, so a
 * node that talks fast fills its own buffers, not ours. What goes out is held back by its maker
 * until {@link #ready}.
 */
final class NodeStream {
  private static final Logger log = LoggerFactory.getLogger(NodeStream.class);
  private static final int MAX_INBOUND_BYTES = 4 << 20;
  private static final int CONNECT_TIMEOUT_MILLIS = 3_000;

  private final String node;
  private final String address;
  private final Strand strand;
  private final NodeStreams.Listener listener;
  private final IntervalFunction pauses;
  private final ManagedChannel channel;
  private final RateLimited failures;

  private @Nullable Call call;
  private @Nullable Timer reopening;
  private int failed;
  private boolean connected;
  private @Nullable Runnable onGone;

  NodeStream(
      String node,
      String address,
      Strand strand,
      NodeStreams.Listener listener,
      IntervalFunction pauses) {
    this.node = node;
    this.address = address;
    this.strand = strand;
    this.listener = listener;
    this.pauses = pauses;
    this.failures = new RateLimited(Duration.ofSeconds(30), strand::nanoTime);
    // Callbacks only hop onto the strand: they need no executor.
    this.channel =
        NettyChannelBuilder.forTarget(address)
            .usePlaintext()
            .directExecutor()
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
            .maxInboundMessageSize(MAX_INBOUND_BYTES)
            .build();
  }

  String address() {
    return address;
  }

  boolean connected() {
    return connected;
  }

  void open() {
    reopening = null;
    // Or the channel would sit out a back-off of its own, of up to two minutes.
    channel.resetConnectBackoff();
    Call opened = new Call();
    call = opened;
    var unused = WorkflowServiceGrpc.newStub(channel).assignTask(opened);
    listener.opened(node);
  }

  boolean ready() {
    return call != null && call.out != null && call.out.isReady();
  }

  void send(WorkerMessage message) {
    if (call != null && call.out != null) {
      call.out.onNext(message);
    }
  }

  /** The node is silent: its connection is given up as well, since TCP may wait long in it. */
  void close(String reason) {
    Call open = call;
    if (open != null) {
      ended(open, Status.CANCELLED.withDescription(reason));
      open.cancel(reason);
      channel.enterIdle();
    }
  }

  /** The node is listed (again). */
  void keep() {
    onGone = null;
  }

  /** The node is not listed: when this stream ends it is not opened again. */
  void letGo(Runnable gone) {
    onGone = gone;
    if (call == null || !connected) {
      shutDown("the node is not listed any more");
      gone.run();
    }
  }

  void shutDown(String reason) {
    onGone = null;
    Call open = call;
    call = null;
    if (reopening != null) {
      reopening.cancel();
      reopening = null;
    }
    if (open != null) {
      open.cancel(reason);
      listener.closed(node);
    }
    channel.shutdownNow();
  }

  private void received(Call from, SchedulerMessage message) {
    if (call != from) {
      return;
    }
    if (!connected) {
      connected = true;
      failed = 0;
      log.info("connected to scheduler {} at {}", node, address);
    }
    try {
      listener.received(node, message);
    } finally {
      from.next();
    }
  }

  private void ended(Call which, Status status) {
    if (call != which) {
      return;
    }
    call = null;
    boolean was = connected;
    connected = false;
    listener.closed(node);
    if (onGone != null) {
      Runnable gone = onGone;
      log.info("scheduler {} at {} is gone", node, address);
      shutDown("the node is gone");
      gone.run();
      return;
    }
    failed++;
    Duration pause = Duration.ofMillis(pauses.apply(Math.min(failed, 30)));
    if (was) {
      log.warn("the stream to scheduler {} at {} broke: {}", node, address, reason(status));
    } else {
      failures.run(
          node,
          suppressed ->
              log.warn(
                  "scheduler {} at {} cannot be reached{}: {}",
                  node,
                  address,
                  suppressed == 0 ? "" : ", " + (suppressed + 1) + " tries",
                  reason(status)));
    }
    reopening = strand.schedule(pause, this::open);
  }

  private static String reason(Status status) {
    String cause = status.getCause() == null ? "" : " (" + status.getCause().getMessage() + ")";
    return status.getCode()
        + (status.getDescription() == null ? "" : ": " + status.getDescription())
        + cause;
  }

  /** One opened stream. Called by gRPC on its threads; goes to the strand with everything. */
  private final class Call implements ClientResponseObserver<WorkerMessage, SchedulerMessage> {
    private @Nullable ClientCallStreamObserver<WorkerMessage> out;

    @Override
    public void beforeStart(ClientCallStreamObserver<WorkerMessage> requests) {
      out = requests;
      requests.disableAutoRequestWithInitial(1);
      requests.setOnReadyHandler(() ->
          strand.execute(() -> {
            if (call == this) {
              listener.writable(node);
            }
          }));
    }

    @Override
    public void onNext(SchedulerMessage message) {
      strand.execute(() -> received(this, message));
    }

    @Override
    public void onError(Throwable failure) {
      strand.execute(() -> ended(this, Status.fromThrowable(failure)));
    }

    @Override
    public void onCompleted() {
      strand.execute(() -> ended(this, Status.OK.withDescription("the node ended the stream")));
    }

    void next() {
      if (out != null) {
        out.request(1);
      }
    }

    void cancel(String reason) {
      if (out != null) {
        out.cancel(reason, null);
      }
    }
  }
}
