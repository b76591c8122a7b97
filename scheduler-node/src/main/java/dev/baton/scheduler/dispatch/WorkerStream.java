package dev.baton.scheduler.dispatch;

import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.scheduler.model.WorkerLife;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;

/**
 * One open stream to one life of a worker. What is said between two flushes gathers here; what the
 * transport does not take yet waits, within a bound past which the stream is closed, for the next
 * inventory repairs that.
 *
 * <p>Gathering belongs to the loop's thread; sending is guarded by the stream's own lock, since the
 * transport and the loop both do it.
 */
final class WorkerStream {
  private static final int CUT_BYTES = 640 << 10;
  private static final long WAITING_BYTES = 64L << 20;

  private final WorkerLife life;
  private final ServerCallStreamObserver<SchedulerMessage> wire;
  private final SchedulerMessage header;
  private SchedulerMessage.Builder gathering;
  private int gatheredBytes;
  private boolean empty = true;

  private final Deque<SchedulerMessage> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private boolean closed;

  /**
   * @param header what every message carries, but for the term
   */
  WorkerStream(
      WorkerLife life, ServerCallStreamObserver<SchedulerMessage> wire, SchedulerMessage header) {
    this.life = life;
    this.wire = wire;
    this.header = header;
    this.gathering = header.toBuilder();
  }

  WorkerLife life() {
    return life;
  }

  /** What goes with the next flush; {@code bytes} is about what is added to it. */
  SchedulerMessage.Builder gather(long term, int bytes) {
    if (gatheredBytes + bytes > CUT_BYTES) {
      flush();
    }
    gatheredBytes += bytes;
    empty = false;
    return gathering.setTerm(term);
  }

  void flush() {
    if (empty) {
      return;
    }
    SchedulerMessage message = gathering.build();
    forgetGathered();
    send(message);
  }

  /** Says something at once, without a term. */
  void sayNow(SchedulerMessage.Builder body) {
    send(header.toBuilder().mergeFrom(body.build()).build());
  }

  /** Nothing that was said and has not left may leave. */
  void forget() {
    forgetGathered();
    synchronized (this) {
      waiting.clear();
      waitingBytes = 0;
    }
  }

  private void forgetGathered() {
    gathering = header.toBuilder();
    gatheredBytes = 0;
    empty = true;
  }

  private synchronized void send(SchedulerMessage message) {
    if (closed) {
      return;
    }
    if (waiting.isEmpty() && wire.isReady()) {
      wire.onNext(message);
      return;
    }
    waiting.addLast(message);
    waitingBytes += message.getSerializedSize();
    if (waitingBytes > WAITING_BYTES) {
      close(Status.RESOURCE_EXHAUSTED.withDescription("The worker does not read its stream."));
    }
  }

  /** Whether something was said that the transport has not taken. */
  synchronized boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /**
   * The transport takes more. While an assignment waited its attempt may have been given up, or its
   * run stopped.
   *
   * @param leaves asked once of each assignment that waited: whether it leaves
   */
  synchronized void drain(Predicate<TaskAssignment> leaves) {
    while (!closed && !waiting.isEmpty() && wire.isReady()) {
      SchedulerMessage message = waiting.removeFirst();
      waitingBytes -= message.getSerializedSize();
      wire.onNext(only(message, leaves));
    }
  }

  private static SchedulerMessage only(SchedulerMessage message, Predicate<TaskAssignment> leaves) {
    List<TaskAssignment> kept = message.getAssignmentsList().stream().filter(leaves).toList();
    return kept.size() == message.getAssignmentsCount()
        ? message
        : message.toBuilder().clearAssignments().addAllAssignments(kept).build();
  }

  synchronized void close(Status status) {
    if (!closed) {
      closed = true;
      waiting.clear();
      wire.onError(status.asRuntimeException());
    }
  }

  /** The worker has ended it. */
  synchronized void complete() {
    if (!closed) {
      closed = true;
      waiting.clear();
      wire.onCompleted();
    }
  }
}
