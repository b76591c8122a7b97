package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.simulation.Faults.Way;
import dev.baton.coordination.simulation.World.Event;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A watch on one member: it is behind by the network's delay, tells whole revisions in their order,
 * shows a sign of life every second, and has failed after three without one.
 */
final class SimulatedWatch implements Etcd.Watch {
  private static final long BEAT_NANOS = Duration.ofSeconds(1).toNanos();
  private static final long SILENCE_NANOS = Duration.ofSeconds(3).toNanos();
  private static final long LEADERLESS_NANOS = Duration.ofSeconds(2).toNanos();
  private static final int REVISIONS_OF_A_BATCH = 1000;

  /** etcd's own notice, which is exact, comes seldom. */
  private static final int ONE_IN_EXACT = 10;

  private final World world;
  private final SimulatedEtcd etcd;
  private final SimulatedClient client;
  private final int member;
  private final Etcd.WatchRequest request;
  private final Etcd.WatchListener listener;

  private final byte[] from;
  private final byte[] to;

  /** What the member has for it and has not told yet. */
  private final Deque<Commit> waiting = new ArrayDeque<>();

  /** From which revision on; 0: the member does not know the watch yet. */
  private long start;

  /** What waited has been compacted meanwhile; 0: nothing. */
  private long compacted;

  private long told;
  private long heardNanos;
  private boolean opened;
  private boolean telling;
  private boolean over;
  private @Nullable Event beat;

  SimulatedWatch(
      World world,
      SimulatedEtcd etcd,
      SimulatedClient client,
      int member,
      Etcd.WatchRequest request,
      Etcd.WatchListener listener) {
    this.world = world;
    this.etcd = etcd;
    this.client = client;
    this.member = member;
    this.request = request;
    this.listener = listener;
    this.from = request.from().toByteArray();
    this.to = request.to().toByteArray();
    this.told = Math.max(0, request.startRevision() - 1);
  }

  String owner() {
    return client.owner();
  }

  void open() {
    heardNanos = world.nanoTime();
    beatLater();
    etcd.follow(this);
    if (!client.link().passes(Way.REQUESTS)) {
      client.link().hold(this::arrive);
    } else if (!etcd.faults().losesRequest()) {
      after(etcd.faults().arrivalNanos(), this::arrive);
    }
  }

  /** A change of the store. */
  void committed(Commit commit) {
    if (start > 0 && commit.revision() >= start && concerns(commit)) {
      waiting.add(commit);
      tellSoon();
    }
  }

  /** What a client does not take for long is read again from the store. */
  void compacted(long revision) {
    if (!hears()
        && !waiting.isEmpty()
        && waiting.getFirst().revision() < revision
        && world.random().nextBoolean()) {
      compacted = revision;
    }
  }

  /** Its connection is lost. */
  void breakSoon() {
    after(0, () -> fail(Kind.UNKNOWN_OUTCOME, "the connection is lost"));
  }

  @Override
  public void close() {
    stop();
  }

  private void arrive() {
    if (over) {
      return;
    }
    if (etcd.members().isHanging(member)) {
      etcd.members().holdAt(member, this::arrive);
    } else if (!etcd.members().isLed(member)) {
      after(etcd.faults().delayNanos(), () -> fail(Kind.UNAVAILABLE, "etcd has no leader"));
    } else {
      long created = etcd.revision();
      start = request.startRevision() == 0 ? created + 1 : request.startRevision();
      readPast();
      after(etcd.faults().delayNanos(), () -> opened(created));
    }
  }

  private void readPast() {
    Store store = etcd.store();
    if (start < store.compacted()) {
      compacted = store.compacted();
      return;
    }
    for (long revision = Math.max(start, store.first()); revision <= store.revision(); revision++) {
      Commit commit = store.commit(revision);
      if (revision == store.compacted() && etcd.faults().forgetsDeletes()) {
        commit = new Commit(revision, commit.puts(), List.of());
      }
      committed(commit);
    }
  }

  private void opened(long created) {
    if (over || !hears()) {
      return;
    }
    heardNanos = world.nanoTime();
    opened = true;
    if (request.startRevision() == 0) {
      told = Math.max(told, created);
    }
    listener.onOpen();
    tellSoon();
  }

  private void tellSoon() {
    if (opened && !telling && (compacted > 0 || !waiting.isEmpty())) {
      telling = true;
      after(etcd.faults().delayNanos(), this::tell);
    }
  }

  private void tell() {
    telling = false;
    if (over || !hears() || etcd.members().isIsolated(member)) {
      return; // The next beat tells what is left.
    }
    if (compacted > 0) {
      fail(Kind.COMPACTED, "what it should tell is compacted up to revision " + compacted);
      return;
    }
    List<WatchEvent> events = new ArrayList<>();
    for (int i = 0; i < REVISIONS_OF_A_BATCH && !waiting.isEmpty(); i++) {
      addEvents(waiting.remove(), events);
    }
    tell(events);
    if (!over) {
      tellSoon();
    }
  }

  private void tell(List<WatchEvent> events) {
    heardNanos = world.nanoTime();
    if (client.link().losesTelling() || etcd.faults().losesTelling()) {
      etcd.happened(Happening.WATCH_EVENT_LOST);
    } else if (etcd.faults().breaksWatch()) {
      fail(Kind.UNKNOWN_OUTCOME, "the connection is lost");
    } else if (bytes(events) > Etcd.MAX_ANSWER_BYTES) {
      fail(Kind.TOO_LARGE, "the events are longer than " + Etcd.MAX_ANSWER_BYTES + " bytes");
    } else {
      told = Math.max(told, events.getLast().modRevision());
      listener.onEvents(List.copyOf(events), told);
    }
  }

  private void beat() {
    if (world.nanoTime() - heardNanos > SILENCE_NANOS) {
      fail(Kind.UNAVAILABLE, "the member has been silent for 3 s");
    } else if (hears() && etcd.members().leaderlessNanos(member) > LEADERLESS_NANOS) {
      fail(Kind.UNAVAILABLE, "etcd has no leader");
    } else {
      beatLater();
      if (opened && hears()) {
        live();
      }
    }
  }

  /** What is left is told, and that it is alive. */
  private void live() {
    tellSoon();
    if (client.link().passes(Way.REQUESTS)) {
      heardNanos = world.nanoTime();
      if (waiting.isEmpty() && compacted == 0 && world.random().nextInt(ONE_IN_EXACT) == 0) {
        told = Math.max(told, etcd.members().known(member, etcd.revision()));
      }
      listener.onEvents(List.of(), told);
    }
  }

  private void fail(Kind kind, String why) {
    if (!over) {
      stop();
      etcd.happened(Happening.WATCH_BROKEN);
      if (kind == Kind.COMPACTED) {
        etcd.happened(Happening.COMPACTED);
      }
      EtcdException failure =
          new EtcdException(kind, "The watch of " + owner() + " at etcd failed: " + why + ".");
      client.turnFrom(member, failure);
      listener.onFailure(failure);
    }
  }

  private void stop() {
    over = true;
    if (beat != null) {
      beat.cancel();
    }
    etcd.unfollow(this);
    client.forget(this);
  }

  private void beatLater() {
    beat = world.at(world.nanoTime() + BEAT_NANOS, this::beat);
  }

  /** What the member says arrives. */
  private boolean hears() {
    return !etcd.members().isHanging(member) && client.link().passes(Way.ANSWERS);
  }

  private boolean concerns(Commit commit) {
    for (KeyValue put : commit.puts()) {
      if (isIn(put.key())) {
        return true;
      }
    }
    if (request.deletes()) {
      for (ByteString key : commit.deletes()) {
        if (isIn(key)) {
          return true;
        }
      }
    }
    return false;
  }

  private void addEvents(Commit commit, List<WatchEvent> events) {
    for (KeyValue put : commit.puts()) {
      if (isIn(put.key())) {
        events.add(new WatchEvent(put.key(), put.value(), put.createRevision(), put.modRevision()));
      }
    }
    if (request.deletes()) {
      for (ByteString key : commit.deletes()) {
        if (isIn(key)) {
          events.add(new WatchEvent(key, null, 0, commit.revision()));
        }
      }
    }
  }

  private boolean isIn(ByteString key) {
    byte[] name = key.toByteArray();
    return Arrays.compareUnsigned(name, from) >= 0 && Arrays.compareUnsigned(name, to) < 0;
  }

  private static long bytes(List<WatchEvent> events) {
    long bytes = 0;
    for (WatchEvent event : events) {
      bytes += event.key().size() + (event.value() == null ? 0 : event.value().size());
    }
    return bytes;
  }

  private void after(long nanos, Runnable event) {
    var unused = world.at(world.nanoTime() + nanos, event);
  }
}
