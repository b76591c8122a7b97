package dev.baton.worker.protocol;

import dev.baton.proto.v1.Inventory;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TaskProgress;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerHello;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.worker.protocol.Outputs.Drop;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a worker holds and what it may say.
 *
 * <p>One attempt at a time is in exactly one place: running, in the outbox (it ended; the result is
 * kept until a leader of the highest term has judged it), returned (there was no slot for it; kept
 * in the same way), or unknown here. A slot is in use until the result is acknowledged <em>and</em>
 * the handler has returned, so the outbox is bounded by the slots.
 *
 * <p>Only the node that spoke with the highest term is spoken to, and only after it greeted on the
 * stream that is open now: it then hears everything at once, in one inventory, and the results
 * after it. A stream that breaks therefore loses nothing.
 *
 * <p>Nothing is started while the worker's lease may have ended: its attempts may have been given
 * up, and run elsewhere. What a stream held back meanwhile, as when the process stood still, was
 * said to the registration that has ended. So after a new one a stream must first answer a ping
 * that was sent under it; an inventory then shows the leader what was dropped, and it is sent
 * again.
 *
 * <p>Not thread-safe: its owner calls it from one strand, and {@link #flush} at the end of each
 * turn, so that what happened together leaves together. All of its state is soft: a worker that
 * dies takes it along, and its attempts are lost.
 */
public final class WorkerProtocol {
  /** What this contract is called in a hello. */
  public static final int PROTOCOL_VERSION = 1;

  /** An inventory of so many slots fits into one message. */
  public static final int MAX_SLOTS = 4096;

  /** Names that will never start here; the oldest are forgotten first. */
  static final int MAX_NEVER = 10_000;

  /** Returns that are kept. One above is dropped, which is safe: the inventory shows it missing. */
  static final int MAX_RETURNED = 1_000;

  /** Pings without an answer after which a stream is given up: three seconds of ticks. */
  static final int MAX_UNANSWERED_PINGS = 3;

  private final String workerId;
  private final String incarnation;
  private final int slots;
  private final Outputs outputs;

  private final Map<String, StreamState> streams = new LinkedHashMap<>();
  private final Set<AttemptId> running = new LinkedHashSet<>();
  private final Set<AttemptId> cancelling = new LinkedHashSet<>();

  /** Their result has left though the handler has not returned. */
  private final Set<AttemptId> overdue = new LinkedHashSet<>();

  private final Map<AttemptId, TaskResult> outbox = new LinkedHashMap<>();
  private final Set<AttemptId> returned = new LinkedHashSet<>();
  private final Set<AttemptId> never = new LinkedHashSet<>();

  /** What is to be said with the next flush; names of the sets above. */
  private final Set<AttemptId> unsentResults = new LinkedHashSet<>();

  private final Set<AttemptId> unsentReturns = new LinkedHashSet<>();
  private final Set<AttemptId> unsentUnknown = new LinkedHashSet<>();
  private final Map<AttemptId, TaskProgress> progress = new LinkedHashMap<>();
  private boolean progressDue;
  private boolean inventoryDue;

  private long generation;
  private long term;
  private @Nullable String leader;
  private boolean draining;
  private long pings;

  /**
   * @param incarnation random, drawn by this process
   * @param slots 1 to {@link #MAX_SLOTS}
   */
  public WorkerProtocol(String workerId, String incarnation, int slots, Outputs outputs) {
    if (slots < 1 || slots > MAX_SLOTS) {
      throw new IllegalArgumentException(
          "Expected 1 to " + MAX_SLOTS + " slots, but got " + slots + ".");
    }
    this.workerId = workerId;
    this.incarnation = incarnation;
    this.slots = slots;
    this.outputs = outputs;
  }

  /** A stream to the node was opened (again); messages of an earlier one do not come any more. */
  public void streamOpened(String node) {
    streamClosed(node);
    streams.put(node, new StreamState(outputs.lease()));
    outputs.send(
        node,
        message()
            .setHello(
                WorkerHello.newBuilder().setWorkerId(workerId).setProtocolVersion(PROTOCOL_VERSION))
            .build());
    ping(node);
  }

  public void streamClosed(String node) {
    if (streams.remove(node) != null && node.equals(leader)) {
      inventoryDue = false;
      unsentUnknown.clear();
    }
  }

  /** A message came on the node's open stream. */
  public void received(String node, SchedulerMessage message) {
    StreamState stream = streams.get(node);
    if (stream == null) {
      return;
    }
    if (message.hasPing()) {
      stream.pingToAnswer = message.getPing();
    }
    if (message.hasPong()) {
      stream.unanswered = 0;
      heardSince(node, stream, message.getPong().getNonce());
    }
    if (saysSomething(message) && isMeantForUs(node, message)) {
      obey(node, stream, message);
    }
  }

  /**
   * A handler has ended, or is overdue.
   *
   * @param handlerReturned false: it goes on, and {@link #handlerReturned} follows some day
   */
  public void finished(TaskResult result, boolean handlerReturned) {
    AttemptId id = AttemptId.of(result);
    if (!running.remove(id)) {
      throw new IllegalStateException("Expected a running attempt, but got a result of " + id);
    }
    cancelling.remove(id);
    progress.remove(id);
    outbox.put(id, result);
    unsentResults.add(id);
    if (!handlerReturned) {
      overdue.add(id);
    }
  }

  /**
   * An overdue handler has returned: its slot is free once its result is acknowledged. If that was
   * before, only an inventory can tell the leader.
   */
  public void handlerReturned(AttemptId id) {
    if (overdue.remove(id) && !outbox.containsKey(id)) {
      inventoryDue = true;
    }
  }

  /** The newest word of a handler; it leaves with the next tick. */
  public void progress(TaskProgress word) {
    AttemptId id = AttemptId.of(word.getAttempt());
    if (running.contains(id)) {
      progress.put(id, word);
    }
  }

  /** Comes once a second: pings every stream, and gives up those that do not answer. */
  public void tick() {
    progressDue = !progress.isEmpty();
    for (String node : List.copyOf(streams.keySet())) {
      StreamState stream = streams.get(node);
      if (stream != null && stream.unanswered >= MAX_UNANSWERED_PINGS) {
        outputs.close(node, "no answer to " + MAX_UNANSWERED_PINGS + " pings, one a second");
      } else {
        ping(node);
      }
    }
  }

  /** From now on every assignment is returned. */
  public void drain() {
    draining = true;
  }

  /** Says what is to be said, as far as the streams take it. */
  public void flush() {
    for (Map.Entry<String, StreamState> entry : streams.entrySet()) {
      Ping ping = entry.getValue().pingToAnswer;
      if (ping != null && outputs.ready(entry.getKey())) {
        entry.getValue().pingToAnswer = null;
        outputs.send(
            entry.getKey(), message().setPong(Pong.newBuilder().setNonce(ping.getNonce())).build());
      }
    }
    StreamState stream = leader == null ? null : streams.get(leader);
    if (leader == null || stream == null || stream.greetedIn != term) {
      return;
    }
    if (inventoryDue && outputs.ready(leader)) {
      inventoryDue = false;
      outputs.send(leader, message().setInventory(inventory()).build());
      unsentResults.addAll(outbox.keySet());
      unsentReturns.addAll(returned);
    }
    while (!inventoryDue && hasNews() && outputs.ready(leader)) {
      outputs.send(leader, nextNews());
    }
  }

  public int slotsUsed() {
    return running.size() + outbox.size() + overdueAndAcknowledged();
  }

  public int runningCount() {
    return running.size();
  }

  /** Results that no leader has acknowledged. */
  public int outboxCount() {
    return outbox.size();
  }

  public int overdueCount() {
    return overdue.size();
  }

  /** The highest term seen; 0: none yet. */
  public long term() {
    return term;
  }

  /** The node that spoke with the highest term. */
  public @Nullable String leader() {
    return leader;
  }

  private static boolean saysSomething(SchedulerMessage message) {
    return message.hasTermStarted()
        || message.hasInventoryRequest()
        || message.getAcksCount() > 0
        || message.getAssignmentsCount() > 0
        || message.getCancelsCount() > 0
        || message.hasDrain();
  }

  private boolean isMeantForUs(String node, SchedulerMessage message) {
    if (!message.getIncarnation().equals(incarnation)) {
      outputs.dropped(node, Drop.INCARNATION);
      return false;
    }
    if (message.getGeneration() == 0
        || (generation != 0 && message.getGeneration() != generation)) {
      outputs.dropped(node, Drop.GENERATION);
      return false;
    }
    if (message.getTerm() <= 0
        || message.getTerm() < term
        || (message.getTerm() == term && !node.equals(leader))) {
      outputs.dropped(node, Drop.TERM);
      return false;
    }
    return true;
  }

  private void obey(String node, StreamState stream, SchedulerMessage message) {
    generation = message.getGeneration();
    if (message.getTerm() > term) {
      term = message.getTerm();
      leader = node;
      inventoryDue = false;
      unsentUnknown.clear();
    }
    if (message.hasTermStarted() || message.hasInventoryRequest()) {
      stream.greetedIn = term;
      inventoryDue = true;
    }
    // Acknowledgements first: they free the slots that the assignments beside them need.
    for (ResultAck ack : message.getAcksList()) {
      acknowledged(AttemptId.of(ack.getAttempt()));
    }
    for (TaskAssignment assignment : message.getAssignmentsList()) {
      assigned(node, stream, assignment);
    }
    if (message.hasDrain() && !draining) {
      drain();
      outputs.drain();
    }
    for (TaskCancel cancel : message.getCancelsList()) {
      cancelled(AttemptId.of(cancel.getAttempt()), cancel.getReason());
    }
  }

  private void acknowledged(AttemptId id) {
    if (outbox.remove(id) != null) {
      unsentResults.remove(id);
    }
    if (returned.remove(id)) {
      unsentReturns.remove(id);
      // The next attempt may start elsewhere from now on: no late copy of this one may.
      remember(id);
    }
  }

  /** An answer to a ping of this registration: what was sent to an earlier one has come. */
  private void heardSince(String node, StreamState stream, long nonce) {
    if (stream.probeLease != 0 && nonce >= stream.probe) {
      stream.lease = stream.probeLease;
      stream.probeLease = 0;
      inventoryDue |= node.equals(leader);
    }
  }

  private boolean isRegisteredFor(StreamState stream) {
    long lease = outputs.lease();
    return lease != 0 && lease == stream.lease;
  }

  private void assigned(String node, StreamState stream, TaskAssignment assignment) {
    AttemptId id = AttemptId.of(assignment);
    if (running.contains(id) || outbox.containsKey(id) || overdue.contains(id)) {
      outputs.dropped(node, Drop.KNOWN_ASSIGNMENT);
    } else if (returned.contains(id)) {
      outputs.dropped(node, Drop.KNOWN_ASSIGNMENT);
      unsentReturns.add(id);
    } else if (never.contains(id)) {
      outputs.dropped(node, Drop.KNOWN_ASSIGNMENT);
      unsentUnknown.add(id);
    } else if (!isRegisteredFor(stream)) {
      outputs.dropped(node, Drop.REGISTRATION);
    } else if (!draining && slotsUsed() < slots) {
      running.add(id);
      outputs.start(assignment);
    } else if (returned.size() < MAX_RETURNED) {
      returned.add(id);
      unsentReturns.add(id);
    } else {
      outputs.dropped(node, Drop.TOO_MANY_RETURNS);
    }
  }

  private void cancelled(AttemptId id, String reason) {
    if (running.contains(id)) {
      if (cancelling.add(id)) {
        outputs.cancel(id, reason);
      }
    } else if (!outbox.containsKey(id) && !overdue.contains(id)) {
      remember(id);
      unsentUnknown.add(id);
    }
  }

  private void remember(AttemptId id) {
    if (never.add(id) && never.size() > MAX_NEVER) {
      AttemptId oldest = never.iterator().next();
      never.remove(oldest);
      unsentUnknown.remove(oldest);
    }
  }

  private Inventory inventory() {
    Inventory.Builder inventory =
        Inventory.newBuilder().setFreeSlots(draining ? 0 : Math.max(0, slots - slotsUsed()));
    running.forEach(id -> inventory.addRunning(id.toProto()));
    overdue.stream()
        .filter(id -> !outbox.containsKey(id))
        .forEach(id -> inventory.addLingering(id.toProto()));
    outbox.keySet().forEach(id -> inventory.addResults(id.toProto()));
    returned.forEach(id -> inventory.addReturned(id.toProto()));
    return inventory.build();
  }

  private boolean hasNews() {
    return !unsentResults.isEmpty()
        || !unsentReturns.isEmpty()
        || !unsentUnknown.isEmpty()
        || progressDue;
  }

  private WorkerMessage nextNews() {
    News news = new News(message());
    news.take(unsentUnknown, AttemptId::toProto, WorkerMessage.Builder::addCancelledUnknown);
    news.take(unsentReturns, AttemptId::toProto, WorkerMessage.Builder::addReturned);
    news.take(unsentResults, outbox::get, WorkerMessage.Builder::addResults);
    news.take(progress.keySet(), progress::get, WorkerMessage.Builder::addProgress);
    progressDue = progressDue && !progress.isEmpty();
    return news.build();
  }

  private int overdueAndAcknowledged() {
    int count = 0;
    for (AttemptId id : overdue) {
      if (!outbox.containsKey(id)) {
        count++;
      }
    }
    return count;
  }

  private void ping(String node) {
    StreamState stream = streams.get(node);
    if (stream != null) {
      stream.unanswered++;
      pings++;
      long lease = outputs.lease();
      if (lease != stream.lease && lease != stream.probeLease) {
        stream.probe = pings;
        stream.probeLease = lease;
      }
      outputs.send(node, message().setPing(Ping.newBuilder().setNonce(pings)).build());
    }
  }

  private WorkerMessage.Builder message() {
    return WorkerMessage.newBuilder()
        .setGeneration(generation)
        .setTerm(term)
        .setIncarnation(incarnation);
  }

  private static final class StreamState {
    /** The term in which the node greeted on this stream. */
    long greetedIn = -1;

    /** The registration to which all speak that comes on this stream. */
    long lease;

    /** The first ping that was sent under another registration, and that one's lease; 0: none. */
    long probe;

    long probeLease;
    int unanswered;
    @Nullable Ping pingToAnswer;

    StreamState(long lease) {
      this.lease = lease;
    }
  }
}
