package dev.baton.scheduler.dispatch;

import dev.baton.coordination.Strand;
import dev.baton.proto.v1.Drain;
import dev.baton.proto.v1.InventoryRequest;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TermStarted;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.loop.WorkerReport;
import dev.baton.scheduler.loop.WorkerSink;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.WorkerLife;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The streams of workers, and the loop's way to them. The table of streams belongs to the loop's
 * thread; messages come on the transport's threads and go to the loop as they come.
 */
public final class WorkerStreams implements WorkerSink {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerStreams.class);
  private static final Pattern WORKER_ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final Pattern INCARNATION = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final Duration PING_EVERY = Duration.ofSeconds(1);
  private static final int MESSAGES_AHEAD = 8;
  private static final int NAME_BYTES = 64;

  private final Strand strand;
  private final String nodeId;
  private final long generation;
  private final Map<WorkerLife, WorkerStream> streams = new HashMap<>();

  /** In the order in which something was said to them, so that a simulation can repeat it. */
  private final Set<WorkerStream> dirty = new LinkedHashSet<>();

  private @Nullable SchedulerLoop loop;
  private long term;

  public WorkerStreams(Strand strand, String nodeId, long generation) {
    this.strand = strand;
    this.nodeId = nodeId;
    this.generation = generation;
  }

  /** The loop that hears what workers say; before the server is started. */
  public void attach(SchedulerLoop loop) {
    this.loop = loop;
    strand.execute(this::ping);
  }

  // What workers say.

  /** A worker opens a stream; it says whose it is in its first message. */
  public StreamObserver<WorkerMessage> open(ServerCallStreamObserver<SchedulerMessage> wire) {
    wire.disableAutoRequest();
    Inbound inbound = new Inbound(wire);
    wire.setOnReadyHandler(inbound::onReady);
    wire.setOnCancelHandler(inbound::onEnd);
    wire.setOnCloseHandler(inbound::onEnd);
    wire.request(MESSAGES_AHEAD);
    return inbound;
  }

  /** What comes from one stream; called by the transport, one call at a time. */
  private final class Inbound implements StreamObserver<WorkerMessage> {
    private final ServerCallStreamObserver<SchedulerMessage> wire;
    private volatile @Nullable WorkerStream stream;
    private boolean refused;

    Inbound(ServerCallStreamObserver<SchedulerMessage> wire) {
      this.wire = wire;
    }

    void onReady() {
      WorkerStream opened = stream;
      if (opened != null && opened.hasWaiting()) {
        strand.execute(() -> opened.drain(assignment -> leavesLate(opened.life(), assignment)));
      }
    }

    @Override
    public void onNext(WorkerMessage message) {
      WorkerStream opened = stream;
      if (refused) {
        return;
      }
      if (opened == null) {
        opened = open(message);
        if (opened == null) {
          return;
        }
      }
      take(opened, message);
    }

    private @Nullable WorkerStream open(WorkerMessage message) {
      String workerId = message.getHello().getWorkerId();
      if (!message.hasHello()
          || !WORKER_ID.matcher(workerId).matches()
          || !INCARNATION.matcher(message.getIncarnation()).matches()) {
        refused = true;
        wire.onError(
            Status.INVALID_ARGUMENT
                .withDescription(
                    "A stream's first message carries `hello` with a worker_id, and an incarnation: 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-'.")
                .asRuntimeException());
        return null;
      }
      WorkerLife life = new WorkerLife(workerId, message.getIncarnation());
      SchedulerMessage header =
          SchedulerMessage.newBuilder()
              .setGeneration(generation)
              .setIncarnation(life.incarnation())
              .setNodeId(nodeId)
              .build();
      WorkerStream opened = new WorkerStream(life, wire, header);
      stream = opened;
      strand.execute(() -> add(opened));
      return opened;
    }

    private void take(WorkerStream from, WorkerMessage message) {
      SchedulerLoop hearer = loop;
      boolean ours =
          (message.getGeneration() == 0 || message.getGeneration() == generation)
              && message.getIncarnation().equals(from.life().incarnation());
      if (hearer == null || !ours) {
        wire.request(1);
        return;
      }
      if (message.hasPing()) {
        from.sayNow(
            SchedulerMessage.newBuilder()
                .setPong(Pong.newBuilder().setNonce(message.getPing().getNonce())));
      }
      WorkerReport report = WorkerMessages.report(message);
      if (report == null) {
        hearer.onHeard(from.life());
        wire.request(1);
      } else {
        strand.execute(() -> hand(from, report, () -> wire.request(1)));
      }
    }

    /** A stream that a newer one has replaced is drained of results only. */
    private void hand(WorkerStream from, WorkerReport report, Runnable taken) {
      SchedulerLoop hearer = loop;
      boolean isNewest = streams.get(from.life()) == from;
      if (hearer != null) {
        hearer.onReport(from.life(), isNewest ? report : report.withoutInventory(), taken);
      }
    }

    @Override
    public void onError(Throwable failure) {
      onEnd();
    }

    @Override
    public void onCompleted() {
      WorkerStream ended = stream;
      if (ended == null) {
        if (!refused) {
          wire.onCompleted();
        }
      } else {
        ended.complete();
      }
      onEnd();
    }

    void onEnd() {
      WorkerStream ended = stream;
      if (ended != null) {
        strand.execute(() -> remove(ended));
      }
    }
  }

  // The table of streams, on the loop's thread.

  private void add(WorkerStream opened) {
    WorkerStream before = streams.put(opened.life(), opened);
    if (before != null) {
      dirty.remove(before);
      before.close(Status.ABORTED.withDescription("A newer stream of this worker has come."));
      closed(before);
    }
    SchedulerLoop hearer = loop;
    if (hearer != null) {
      hearer.onStreamOpened(opened.life());
    }
    LOG.debug("Worker {} has opened a stream", opened.life());
  }

  private void remove(WorkerStream ended) {
    if (streams.remove(ended.life(), ended)) {
      dirty.remove(ended);
      closed(ended);
      LOG.debug("The stream of worker {} has ended", ended.life());
    }
  }

  private void closed(WorkerStream ended) {
    SchedulerLoop hearer = loop;
    if (hearer != null) {
      hearer.onStreamClosed(ended.life());
    }
  }

  private boolean leavesLate(WorkerLife to, TaskAssignment assignment) {
    SchedulerLoop decider = loop;
    return decider != null && decider.leavesLate(to, WorkerMessages.name(assignment));
  }

  private void ping() {
    strand.schedule(PING_EVERY, this::ping);
    long nonce = strand.nanoTime();
    for (WorkerStream stream : streams.values()) {
      stream.sayNow(SchedulerMessage.newBuilder().setPing(Ping.newBuilder().setNonce(nonce)));
    }
  }

  // What the loop says.

  @Override
  public void openTerm(long term) {
    this.term = term;
  }

  @Override
  public void closeTerm() {
    term = 0;
    dirty.clear();
    streams.values().forEach(WorkerStream::forget);
  }

  private SchedulerMessage.@Nullable Builder to(WorkerLife life, int bytes) {
    WorkerStream stream = term == 0 ? null : streams.get(life);
    if (stream == null) {
      return null;
    }
    dirty.add(stream);
    return stream.gather(term, bytes);
  }

  @Override
  public void greet(WorkerLife to) {
    SchedulerMessage.Builder message = to(to, 0);
    if (message != null) {
      message.setTermStarted(TermStarted.getDefaultInstance());
    }
  }

  @Override
  public void askInventory(WorkerLife to) {
    SchedulerMessage.Builder message = to(to, 0);
    if (message != null) {
      message.setInventoryRequest(InventoryRequest.getDefaultInstance());
    }
  }

  @Override
  public void assign(WorkerLife to, Assignment assignment) {
    TaskAssignment wire = WorkerMessages.assignment(assignment);
    SchedulerMessage.Builder message = to(to, wire.getSerializedSize() + 8);
    if (message != null) {
      message.addAssignments(wire);
    }
  }

  @Override
  public void cancel(WorkerLife to, AttemptName name, String reason) {
    SchedulerMessage.Builder message = to(to, NAME_BYTES + reason.length());
    if (message != null) {
      message.addCancels(
          TaskCancel.newBuilder().setAttempt(WorkerMessages.name(name)).setReason(reason));
    }
  }

  @Override
  public void acknowledge(WorkerLife to, AttemptName name, Verdict verdict) {
    SchedulerMessage.Builder message = to(to, NAME_BYTES);
    if (message != null) {
      message.addAcks(
          ResultAck.newBuilder()
              .setAttempt(WorkerMessages.name(name))
              .setVerdict(WorkerMessages.verdict(verdict)));
    }
  }

  @Override
  public void drain(WorkerLife to) {
    SchedulerMessage.Builder message = to(to, 0);
    if (message != null) {
      message.setDrain(Drain.getDefaultInstance());
    }
  }

  @Override
  public void flush() {
    dirty.forEach(WorkerStream::flush);
    dirty.clear();
  }
}
