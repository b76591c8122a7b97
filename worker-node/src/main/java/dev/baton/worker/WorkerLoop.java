package dev.baton.worker;

import dev.baton.coordination.Strand;
import dev.baton.node.RateLimited;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskProgress;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.worker.attempt.AttemptTimers;
import dev.baton.worker.attempt.Attempts;
import dev.baton.worker.attempt.TraceFile;
import dev.baton.worker.protocol.AttemptId;
import dev.baton.worker.protocol.Outputs;
import dev.baton.worker.protocol.WorkerProtocol;
import dev.baton.worker.stream.NodeStreams;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins protocol, attempts and streams on one strand. Everything here runs on it, but for the
 * methods that say otherwise; whatever happened in one turn leaves in one flush.
 */
final class WorkerLoop implements Outputs, Attempts.Listener, NodeStreams.Listener {
  private static final Logger log = LoggerFactory.getLogger(WorkerLoop.class);
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(30);

  private final Strand strand;
  private final WorkerProtocol protocol;
  private final Attempts attempts;
  private final NodeStreams streams;
  private final WorkerMeters meters;
  private final LongSupplier lease;
  private final Runnable drainAsked;
  private final @Nullable TraceFile trace;
  private final RateLimited drops;
  private final List<Waiter> waiters = new ArrayList<>();
  private boolean flushQueued;
  private long termTold;
  private volatile State state;

  /** What others may look at: a picture of the end of the last turn. */
  record State(
      int slotsUsed,
      int running,
      int outbox,
      int overdue,
      int handlers,
      int streamsConnected,
      int streamsKnown,
      long term,
      @Nullable String leader) {}

  private record Waiter(Predicate<State> holds, CompletableFuture<Void> done) {}

  /** Who the worker is, and what it can do. */
  record Identity(String id, String incarnation, int slots, Map<String, TaskHandler> handlers) {}

  /**
   * @param lease of the registration; 0: none that can be relied on
   * @param drainAsked an operator wants the worker to end; on the strand
   */
  WorkerLoop(
      Identity identity,
      Strand strand,
      AttemptTimers timers,
      WorkerMeters meters,
      LongSupplier lease,
      Runnable drainAsked,
      @Nullable TraceFile trace) {
    this.strand = strand;
    this.meters = meters;
    this.lease = lease;
    this.drainAsked = drainAsked;
    this.trace = trace;
    this.drops = new RateLimited(LOG_INTERVAL, strand::nanoTime);
    this.protocol =
        new WorkerProtocol(identity.id(), identity.incarnation(), identity.slots(), this);
    this.attempts = new Attempts(identity.handlers(), strand, this, timers, trace);
    this.streams = new NodeStreams(strand, this);
    this.state = picture();
  }

  /** From any thread. */
  State state() {
    return state;
  }

  void start() {
    strand.schedule(TICK, this::tick);
  }

  void nodePut(String node, String address) {
    streams.put(node, address);
    changed();
  }

  void nodeGone(String node) {
    streams.remove(node);
    changed();
  }

  /** From now on assignments are returned. */
  void beginDrain() {
    protocol.drain();
    changed();
  }

  /** Gives up what runs: it is told to stop, and nothing of it is reported. */
  void abandon() {
    attempts.abandon();
    changed();
  }

  /** Completes on the strand once the worker is in such a state. From any thread. */
  CompletableFuture<Void> when(Predicate<State> holds) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    strand.execute(() -> {
      waiters.add(new Waiter(holds, done));
      changed();
    });
    return done;
  }

  void closeStreams() {
    streams.close();
  }

  private void tick() {
    strand.schedule(TICK, this::tick);
    protocol.tick();
    changed();
  }

  private void changed() {
    if (!flushQueued) {
      flushQueued = true;
      strand.execute(this::flush);
    }
  }

  private void flush() {
    flushQueued = false;
    protocol.flush();
    if (protocol.term() != termTold) {
      termTold = protocol.term();
      log.atInfo()
          .addKeyValue("term", termTold)
          .log("scheduler {} leads, term {}", protocol.leader(), termTold);
    }
    State now = picture();
    state = now;
    waiters.removeIf(waiter -> waiter.holds().test(now) && waiter.done().complete(null));
  }

  private State picture() {
    return new State(
        protocol.slotsUsed(),
        protocol.runningCount(),
        protocol.outboxCount(),
        protocol.overdueCount(),
        attempts.count(),
        streams.connected(),
        streams.known(),
        protocol.term(),
        protocol.leader());
  }

  // What the streams tell.

  @Override
  public void opened(String node) {
    protocol.streamOpened(node);
    changed();
  }

  @Override
  public void received(String node, SchedulerMessage message) {
    protocol.received(node, message);
    changed();
  }

  @Override
  public void writable(String node) {
    changed();
  }

  @Override
  public void closed(String node) {
    protocol.streamClosed(node);
    changed();
  }

  // What the attempts tell.

  @Override
  public void finished(TaskResult result, boolean handlerReturned) {
    protocol.finished(result, handlerReturned);
    changed();
  }

  @Override
  public void returned(AttemptId id) {
    protocol.handlerReturned(id);
    changed();
  }

  @Override
  public void progress(TaskProgress word) {
    protocol.progress(word);
  }

  // What the protocol wants.

  @Override
  public boolean ready(String node) {
    return streams.ready(node);
  }

  @Override
  public void send(String node, WorkerMessage message) {
    streams.send(node, message);
  }

  @Override
  public void close(String node, String reason) {
    streams.close(node, reason);
  }

  @Override
  public long lease() {
    return lease.getAsLong();
  }

  @Override
  public void drain() {
    drainAsked.run();
  }

  @Override
  public void start(TaskAssignment assignment) {
    if (trace != null) {
      trace.received(AttemptId.of(assignment), assignment.getSeq(), protocol.term());
    }
    attempts.start(assignment);
  }

  @Override
  public void cancel(AttemptId attempt, String reason) {
    attempts.cancel(attempt, reason);
  }

  @Override
  public void dropped(String node, Drop why) {
    meters.dropped(why);
    if (why == Drop.KNOWN_ASSIGNMENT
        || why == Drop.TERM
        || why == Drop.INCARNATION
        || why == Drop.REGISTRATION) {
      log.debug("dropped what scheduler {} said: {}", node, why);
      return;
    }
    drops.run(
        node + why,
        suppressed ->
            log.warn(
                why == Drop.GENERATION
                    ? "dropped {} messages of scheduler {}: it speaks for another generation of the"
                        + " cluster than this worker joined; start the worker again if the cluster"
                        + " was restored"
                    : "dropped {} assignments of scheduler {}: too many returns are unacknowledged",
                suppressed + 1,
                node));
  }
}
