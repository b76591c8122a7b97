package dev.baton.scheduler.simulation;

import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.WorkerMessage;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A node's end of a worker's stream, as gRPC shows it to the service. */
final class NodeWorkerCall extends ServerCallStreamObserver<SchedulerMessage> {
  private static final int READY_MESSAGES = 16;

  private final Wire wire;
  private final Executor transport;
  private final Consumer<SchedulerMessage> arrival;
  private final Consumer<SchedulerMessage> leaving;
  private final Deque<WorkerMessage> inbox = new ArrayDeque<>();
  private @Nullable StreamObserver<WorkerMessage> service;
  private Runnable onReady = () -> {};
  private Runnable onEnd = () -> {};
  private int requested;
  private boolean full;
  private boolean over;

  /**
   * @param transport of the node
   * @param arrival what the worker hears
   * @param leaving looks at what is said
   */
  NodeWorkerCall(
      Wire wire,
      Executor transport,
      Consumer<SchedulerMessage> arrival,
      Consumer<SchedulerMessage> leaving) {
    this.wire = wire;
    this.transport = transport;
    this.arrival = arrival;
    this.leaving = leaving;
  }

  void begin(StreamObserver<WorkerMessage> served) {
    service = served;
    deliver();
  }

  /** A message of the worker has arrived. */
  void received(WorkerMessage message) {
    inbox.addLast(message);
    deliver();
  }

  /** The worker has ended the stream, or it broke. */
  void ended() {
    if (!over) {
      over = true;
      inbox.clear();
      onEnd.run();
    }
  }

  private void deliver() {
    StreamObserver<WorkerMessage> served = service;
    while (served != null && requested > 0 && !inbox.isEmpty() && !over) {
      requested--;
      served.onNext(inbox.removeFirst());
    }
  }

  @Override
  public boolean isReady() {
    full = wire.waitingDown() >= READY_MESSAGES;
    return !over && !full;
  }

  @Override
  public void onNext(SchedulerMessage message) {
    if (!over) {
      leaving.accept(message);
      wire.down(() -> {
        if (full) {
          full = false;
          transport.execute(this::drained);
        }
        arrival.accept(message);
      });
    }
  }

  /** The transport has room again. */
  private void drained() {
    if (!over) {
      onReady.run();
    }
  }

  @Override
  public void onError(Throwable failure) {
    over = true;
    wire.closeByServer();
  }

  @Override
  public void onCompleted() {
    over = true;
    wire.closeByServer();
  }

  @Override
  public boolean isCancelled() {
    return over;
  }

  @Override
  public void setOnCancelHandler(Runnable handler) {
    onEnd = handler;
  }

  @Override
  public void setOnCloseHandler(Runnable handler) {}

  @Override
  public void setOnReadyHandler(Runnable handler) {
    onReady = handler;
  }

  @Override
  public void disableAutoRequest() {}

  @Override
  public void disableAutoInboundFlowControl() {}

  @Override
  public void request(int count) {
    requested += count;
    deliver();
  }

  @Override
  public void setCompression(String compression) {}

  @Override
  public void setMessageCompression(boolean enable) {}
}
