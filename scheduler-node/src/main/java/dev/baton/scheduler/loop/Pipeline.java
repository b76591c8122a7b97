package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Appender;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.FenceCheck;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.journal.OpenEntry;
import dev.baton.scheduler.journal.Replica;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nothing is said before it is durable. Events join the open entry and the state at once; what is
 * to be said waits for every entry that was decided before it, in flight and open, or, if there is
 * none, for a check of the fence that is sent after it.
 *
 * <p>One entry is in flight. The state runs ahead of etcd by it and by the open one; when the term
 * ends, replica and pipeline are dropped together.
 */
final class Pipeline implements Appender.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(Pipeline.class);

  private final Loop loop;
  private final Replica replica;
  private final long term;
  private final Appender appender;
  private final FenceCheck fence;
  private final Listener listener;

  private OpenEntry open;
  private List<Runnable> afterOpen = new ArrayList<>();
  private List<Runnable> afterInFlight = new ArrayList<>();
  private boolean entryInFlight;
  private long sentNanos;
  private long lastWriteNanos;
  private int inFlightEvents;
  private int inFlightBytes;
  private boolean stalled;
  private long durableSeq;
  private boolean over;

  /** Called on the strand. */
  interface Listener {
    /** The entry in flight is durable, and its effects have gone. */
    void onRoom();

    /** The open entry is about to leave: the state is what it is after it. */
    void onClosing(long seq);

    /** The entry has been closed: the replica stands at it. */
    void onClosed();

    /** The term is over. {@code fault}: because of a bug. */
    void onOver(String why, boolean fault);
  }

  Pipeline(
      Loop loop,
      Replica replica,
      long term,
      long headRevision,
      LongSupplier deadline,
      Listener listener) {
    this.loop = loop;
    this.replica = replica;
    this.term = term;
    this.listener = listener;
    this.appender =
        new Appender(
            loop.appends(), loop.strand(), loop.keys(), term, headRevision, deadline, this);
    this.fence = new FenceCheck(loop.appends(), loop.strand(), loop.keys(), term, deadline);
    this.durableSeq = replica.seq();
    this.open = new OpenEntry(loop.keys(), term, replica.seq() + 1, loop.now());
    this.lastWriteNanos = loop.strand().nanoTime();
    replica.begin(term);
  }

  /** The last entry that is known to be durable. */
  long durableSeq() {
    return durableSeq;
  }

  /** The entry that the state stands at, durable or not. */
  long visibleSeq() {
    return open.isEmpty() ? replica.seq() : open.seq();
  }

  long nextNumber() {
    return open.nextNumber();
  }

  boolean isStalled() {
    return stalled;
  }

  /** Whether so many bytes of events fit, and a key beside with a value of so many. */
  boolean hasRoom(int eventBytes, int valueBytes) {
    return open.hasRoom(eventBytes, valueBytes);
  }

  /** Makes an event part of the open entry, and of the state. */
  void add(Event event, long now) {
    if (open.isEmpty()) {
      open = new OpenEntry(loop.keys(), term, open.seq(), now);
    }
    long at = open.add(event, now);
    replica.apply(event, at);
  }

  /** Writes a definition with the entry that was just added to; the next two do the same. */
  void addSpec(long number, ByteString stored) {
    open.addPut(loop.keys().spec(number), stored);
  }

  void addHistory(HistoryRun run) {
    open.addHistory(run);
  }

  void addPut(ByteString key, ByteString value) {
    open.addPut(key, value);
  }

  /** Runs it once all that is decided by now is durable, if the term lasts so long. */
  void whenDurable(Runnable effect) {
    if (!open.isEmpty()) {
      afterOpen.add(effect);
    } else if (entryInFlight) {
      afterInFlight.add(effect);
    } else {
      fence.check(outcome -> {
        switch (outcome) {
          case LEADS -> run(effect);
          case FENCED -> listener.onOver("another node leads", false);
          case UNKNOWN -> listener.onOver("etcd did not answer before the lease ended", false);
        }
      });
    }
  }

  /** Runs it once the entry in flight is durable. */
  void whenInFlightIsDurable(Runnable effect) {
    afterInFlight.add(effect);
  }

  /** Sends the open entry if there is something in it and nothing is in flight. */
  void send() {
    if (open.isEmpty() || appender.isOver() || appender.isInFlight()) {
      return;
    }
    listener.onClosing(open.seq());
    OpenEntry leaving = open;
    replica.end(leaving.seq(), leaving.lastAt());
    ByteString entry = leaving.encodeEntry();
    replica.addJournalBytes(entry.size());
    inFlightEvents = leaving.events();
    inFlightBytes = entry.size();
    entryInFlight = true;
    afterInFlight = afterOpen;
    afterOpen = new ArrayList<>();
    open = new OpenEntry(loop.keys(), term, leaving.seq() + 1, leaving.lastAt());
    listener.onClosed();
    sentNanos = loop.strand().nanoTime();
    appender.append(leaving.seq(), entry, leaving.encodeHead(), leaving.encodeBeside());
  }

  /** Shows life in {@code head} if nothing was written for so long. */
  void touchIfIdle(Duration idle) {
    if (open.isEmpty()
        && !appender.isOver()
        && !appender.isInFlight()
        && loop.strand().nanoTime() - lastWriteNanos > idle.toNanos()) {
      appender.touch(OpenEntry.head(term, replica.seq(), Math.max(loop.now(), replica.time())));
    }
  }

  void close() {
    over = true;
    appender.close();
    fence.close();
    afterOpen.clear();
    afterInFlight.clear();
  }

  @Override
  public void onDurable(long seq, long revision) {
    long now = loop.strand().nanoTime();
    lastWriteNanos = now;
    durableSeq = seq;
    entryInFlight = false;
    List<Runnable> effects = afterInFlight;
    afterInFlight = new ArrayList<>();
    // Whoever waits for a check of the fence was there before the entry: nothing is said before it.
    fence.confirm();
    loop.listener().onEntry(inFlightEvents, inFlightBytes, Duration.ofNanos(now - sentNanos));
    effects.forEach(this::run);
    listener.onRoom();
  }

  /** One that fails holds up no other; what it should have said is asked for again. */
  private void run(Runnable effect) {
    if (over) {
      return;
    }
    try {
      effect.run();
    } catch (RuntimeException e) {
      LOG.error("An effect failed", e);
      loop.listener().onFault("an effect");
    }
  }

  @Override
  public void onTouched(long revision) {
    lastWriteNanos = loop.strand().nanoTime();
    listener.onRoom();
  }

  @Override
  public void onFenced() {
    listener.onOver("another node leads", false);
  }

  @Override
  public void onFault(String what) {
    listener.onOver(what, true);
  }

  @Override
  public void onDeadline() {
    listener.onOver("etcd did not answer before the lease ended", false);
  }

  @Override
  public void onStalled(EtcdException.Kind kind) {
    stalled = true;
    loop.listener().onStalled(true);
  }

  @Override
  public void onResumed() {
    stalled = false;
    loop.listener().onStalled(false);
  }
}
