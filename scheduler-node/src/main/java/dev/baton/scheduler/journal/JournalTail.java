package dev.baton.scheduler.journal;

import dev.baton.coordination.Answer;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.Etcd.WatchRequest;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.proto.journal.v1.Head;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Follows the journal of whoever leads: entries come by a watch and are applied in order. After a
 * gap, a failed watch, or a head that stays ahead of what came, the missing entries are read in
 * pages; only if the first of them is gone is the replica of no use any more.
 *
 * <p>Runs on the loop's strand. Everything here is soft but the replica.
 */
public final class JournalTail implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JournalTail.class);
  private static final Duration READ_DEADLINE = Duration.ofSeconds(2);
  private static final Duration BEHIND = Duration.ofSeconds(1);
  private static final Duration SILENCE = Duration.ofSeconds(2);
  private static final Duration TICK = Duration.ofMillis(250);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final long PENDING_BYTES = 32L << 20;

  /** What is under way; one thing at a time, so that what failed is tried again once. */
  private enum Doing {
    /** The watches tell what comes. */
    WATCHING,
    /** A page is being read; the watches are closed. */
    READING,
    /** Definitions are being read that the next entry needs; what the watches tell waits. */
    FETCHING,
    /** After a failure; the watches are closed. */
    PAUSING
  }

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;
  private final Replica replica;
  private final JournalClock clock;
  private final SpecStore specs;
  private final Listener listener;

  private final Deque<Entry> pending = new ArrayDeque<>();
  private long pendingBytes;
  private Etcd.@Nullable Watch journalWatch;
  private Etcd.@Nullable Watch headWatch;
  private int watchLife;
  private Doing doing = Doing.WATCHING;
  private Duration pause = FIRST_PAUSE;
  private PageSize pages = new PageSize(false);
  private Head head = Head.getDefaultInstance();
  private long headRevision;
  private long loadedRevision;
  private long behindSeq;
  private long behindSinceNanos;
  private long lastHeardNanos;
  private int keysRead;
  private boolean closed;
  private Strand.@Nullable Timer ticking;
  private Strand.@Nullable Timer pausing;
  private @Nullable Runnable whenFinished;

  /** Called on the strand. */
  public interface Listener {
    /** An entry is in the replica. */
    void onApplied(Entry entry);

    /** The replica cannot follow any more: a new one must be loaded. */
    void onTailLost(String reason);

    /** Something could not be read or applied: a bug, or a damaged replica. */
    void onTailFault(String what, RuntimeException cause);

    /** The replica met something that this version does not know. */
    void onUnknownEvent(UnknownEventException cause);
  }

  public JournalTail(
      Etcd etcd, Keys keys, Strand strand, Replica replica, JournalClock clock, Listener listener) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
    this.replica = replica;
    this.clock = clock;
    this.specs = new SpecStore(etcd, keys, strand);
    this.listener = listener;
  }

  /** Follows from the revision after the one at which the replica was loaded. */
  public void start(long loadedRevision) {
    this.loadedRevision = loadedRevision;
    lastHeardNanos = strand.nanoTime();
    openWatches(loadedRevision + 1);
    tick();
  }

  /** The newest head that came. */
  public Head head() {
    return head;
  }

  /** Mod revision of the newest head that came; 0: none did. */
  public long headRevision() {
    return headRevision;
  }

  /** How many entries the replica is behind the newest head. */
  public long lagEntries() {
    return Math.max(0, head.getSeq() - replica.seq());
  }

  /** For how long the oldest head that the replica has not reached is known; zero: none is. */
  public Duration lag() {
    return behindSeq == 0 ? Duration.ZERO : Duration.ofNanos(strand.nanoTime() - behindSinceNanos);
  }

  /** For how long nothing was heard of etcd. */
  public Duration silence() {
    return Duration.ofNanos(strand.nanoTime() - lastHeardNanos);
  }

  /** How many keys were read to catch up, beyond what watches brought. */
  public int keysRead() {
    return keysRead;
  }

  /**
   * Reads what is still missing, stops following, and then calls back. To be called after this node
   * has won the election: nobody else can append any more.
   *
   * @param lastHead mod revision of the head since then, as far as it is known: if all up to it has
   *     come already, nothing is read
   */
  public void finish(long lastHead, Runnable whenFinished) {
    this.whenFinished = whenFinished;
    if (doing == Doing.WATCHING && headRevision == lastHead && lagEntries() == 0) {
      close();
      whenFinished.run();
    } else if (doing == Doing.WATCHING || doing == Doing.PAUSING) {
      catchUp();
    }
  }

  @Override
  public void close() {
    closed = true;
    closeWatches();
    if (ticking != null) {
      ticking.cancel();
    }
    if (pausing != null) {
      pausing.cancel();
    }
  }

  private void tick() {
    ticking = strand.schedule(TICK, this::tick);
    if (doing == Doing.WATCHING
        && (lag().compareTo(BEHIND) > 0 || silence().compareTo(SILENCE) > 0)) {
      catchUp();
    }
  }

  // What the watches tell.

  private void openWatches(long from) {
    closeWatches();
    doing = Doing.WATCHING;
    int life = watchLife;
    journalWatch =
        etcd.watch(
            new WatchRequest(keys.journal(), Keys.end(keys.journal()), from, false),
            new OnStrand(life, this::onJournal));
    headWatch =
        etcd.watch(
            new WatchRequest(keys.head(), Keys.after(keys.head()), from, false),
            new OnStrand(life, this::onHead));
  }

  private void closeWatches() {
    watchLife++;
    if (journalWatch != null) {
      journalWatch.close();
      journalWatch = null;
    }
    if (headWatch != null) {
      headWatch.close();
      headWatch = null;
    }
  }

  /** Brings a watch's calls to the strand, and drops those of a watch that was closed. */
  private final class OnStrand implements Etcd.WatchListener {
    private final int life;
    private final Consumer<List<WatchEvent>> use;

    OnStrand(int life, Consumer<List<WatchEvent>> use) {
      this.life = life;
      this.use = use;
    }

    private void run(Runnable task) {
      strand.execute(() -> {
        if (life == watchLife && !closed) {
          task.run();
        }
      });
    }

    @Override
    public void onOpen() {
      run(() -> pause = FIRST_PAUSE);
    }

    @Override
    public void onEvents(List<WatchEvent> events, long revision) {
      run(() -> {
        lastHeardNanos = strand.nanoTime();
        guarded("reading what a watch told", () -> use.accept(events));
      });
    }

    @Override
    public void onFailure(EtcdException failure) {
      run(() -> {
        closeWatches();
        if (doing == Doing.WATCHING) {
          pauseAfter("a watch failed", failure);
        }
      });
    }
  }

  private void onHead(List<WatchEvent> events) {
    for (WatchEvent event : events) {
      if (event.value() != null) {
        head(StateLoader.head(event.value()), event.modRevision());
      }
    }
  }

  private void head(Head newest, long revision) {
    if (revision <= headRevision) {
      return;
    }
    head = newest;
    headRevision = revision;
    if (revision > loadedRevision) {
      clock.observe(newest.getTime(), strand.nanoTime());
    }
    noteLag();
  }

  /** Heads and entries come apart: under load the newest head is always a little ahead. */
  private void noteLag() {
    if (behindSeq > replica.seq()) {
      return;
    }
    if (lagEntries() == 0) {
      behindSeq = 0;
    } else {
      behindSeq = head.getSeq();
      behindSinceNanos = strand.nanoTime();
    }
  }

  private void onJournal(List<WatchEvent> events) {
    for (WatchEvent event : events) {
      if (event.value() != null) {
        add(Entry.decode(event.value()));
      }
    }
    if (doing == Doing.WATCHING) {
      applyPending(this::watchOn);
    } else if (pendingBytes > PENDING_BYTES) {
      // Read again, once what is being fetched has come.
      closeWatches();
      forgetPending();
    }
  }

  private void watchOn() {
    if (whenFinished != null || journalWatch == null) {
      catchUp();
    }
  }

  // Applying.

  private void add(Entry entry) {
    pending.addLast(entry);
    pendingBytes += entry.bytes();
  }

  private void removePending() {
    pendingBytes -= pending.removeFirst().bytes();
  }

  private void forgetPending() {
    pending.clear();
    pendingBytes = 0;
  }

  /** Applies what has come, in order; {@code then} goes on if nothing stands in the way. */
  private void applyPending(Runnable then) {
    while (!pending.isEmpty()) {
      Entry next = pending.getFirst();
      if (next.seq() <= replica.seq()) {
        removePending();
        continue;
      }
      if (next.seq() > replica.seq() + 1) {
        catchUp();
        return;
      }
      List<Long> missing = SpecStore.missing(List.of(next), replica);
      if (!missing.isEmpty()) {
        fetch(missing, () -> applyPending(then));
        return;
      }
      removePending();
      if (!guarded("applying entry " + next.seq(), () -> replica.apply(next))) {
        return;
      }
      clock.observe(next.time(), strand.nanoTime());
      noteLag();
      listener.onApplied(next);
      if (closed) {
        return;
      }
    }
    then.run();
  }

  private void fetch(List<Long> missing, Runnable then) {
    doing = Doing.FETCHING;
    Answer.of(
        specs.fetch(missing, replica, 0),
        strand,
        nothing -> {
          if (!closed) {
            doing = Doing.WATCHING;
            guarded("applying what has come", then);
          }
        },
        failure -> {
          if (!closed) {
            pauseAfter("reading a definition failed", failure);
          }
        });
  }

  /** False: it failed, and this tail is over. */
  private boolean guarded(String what, Runnable step) {
    try {
      step.run();
      return !closed;
    } catch (UnknownEventException e) {
      close();
      listener.onUnknownEvent(e);
    } catch (RuntimeException e) {
      close();
      listener.onTailFault(what, e);
    }
    return false;
  }

  // Reading what is missing.

  private void pauseAfter(String why, EtcdException failure) {
    LOG.atLevel(pause.equals(FIRST_PAUSE) ? Level.INFO : Level.DEBUG)
        .log("Following the journal: {}, and what is missing is read: {}", why, failure.toString());
    closeWatches();
    forgetPending();
    doing = Doing.PAUSING;
    pausing = strand.schedule(pause, this::catchUp);
    Duration longer = pause.multipliedBy(2);
    pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
  }

  /** Reads what is missing in pages, and watches on from there. */
  private void catchUp() {
    if (pausing != null) {
      pausing.cancel();
      pausing = null;
    }
    closeWatches();
    forgetPending();
    pages = new PageSize(!pause.equals(FIRST_PAUSE));
    readPage();
  }

  /**
   * A page of entries, and the head after them.
   *
   * @param toFinish it was asked for when nobody else could append any more
   */
  private record Page(Etcd.ListReply entries, Etcd.GetReply head, boolean toFinish) {}

  private void readPage() {
    doing = Doing.READING;
    boolean toFinish = whenFinished != null;
    ListRequest request =
        new ListRequest(
            keys.journal(replica.seq() + 1), Keys.end(keys.journal()), pages.next(), 0, false);
    Answer.of(
        etcd.list(request, READ_DEADLINE)
            .thenCombineAsync(
                etcd.get(keys.head(), READ_DEADLINE),
                (entries, newest) -> new Page(entries, newest, toFinish),
                strand),
        strand,
        page -> {
          if (!closed) {
            doing = Doing.WATCHING;
            guarded("reading the journal", () -> take(page));
          }
        },
        failure -> {
          if (!closed) {
            pauseAfter("reading the journal failed", failure);
          }
        });
  }

  private void take(Page page) {
    lastHeardNanos = strand.nanoTime();
    keysRead += page.entries().keyValues().size();
    pages.learn(page.entries().keyValues());
    Etcd.KeyValue newest = page.head().keyValue();
    if (newest != null) {
      head(StateLoader.head(newest.value()), newest.modRevision());
    }
    page.entries().keyValues().forEach(kv -> add(Entry.decode(kv.value())));
    boolean gone =
        pending.isEmpty()
            ? page.entries().revision() >= headRevision && lagEntries() > 0
            : pending.getFirst().seq() != replica.seq() + 1;
    if (gone) {
      close();
      listener.onTailLost("entry " + (replica.seq() + 1) + " is behind the installed snapshot");
    } else {
      applyPending(() -> readOn(page));
    }
  }

  private void readOn(Page page) {
    if (page.entries().more()) {
      readPage();
    } else if (whenFinished == null) {
      openWatches(page.entries().revision() + 1);
    } else if (!page.toFinish()) {
      catchUp();
    } else if (lagEntries() > 0) {
      readPage();
    } else {
      close();
      whenFinished.run();
    }
  }
}
