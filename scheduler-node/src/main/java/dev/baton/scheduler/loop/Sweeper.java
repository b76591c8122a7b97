package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Answer;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.journal.History;
import dev.baton.scheduler.journal.Orphans;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes what nobody needs any more: the history that retention has dropped, with what its runs
 * left beside it; and, at long intervals, keys that the state does not name and that have not
 * changed between two looks, such as outputs whose result was never decided.
 *
 * <p>Every transaction is fenced. A delete that fails is made again: what is to go is found by
 * looking, not remembered.
 */
final class Sweeper {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);
  private static final Duration DEADLINE = Duration.ofSeconds(5);
  private static final Duration DROPS_EVERY = Duration.ofSeconds(1);
  private static final int HISTORY_PER_PAGE = 32;
  private static final int KEYS_PER_PAGE = 1_000;
  private static final int DELETES_PER_TXN = 60;
  private static final int ORPHANS_PER_LOOK = 1_000;

  private final Loop loop;
  private final long term;
  private final Consumer<Runnable> whenDurable;
  private final Orphans orphans;
  private Map<ByteString, Long> suspects = new HashMap<>();
  private long nextDropsNanos;
  private long nextOrphansNanos;
  private long droppedHistory;
  private long sweptHistory;
  private int orphansLeft;
  private boolean dropping;
  private boolean closed;

  /**
   * @param whenDurable runs what it is given once the state as it is now is in the journal
   */
  Sweeper(Loop loop, ClusterState state, long term, Consumer<Runnable> whenDurable) {
    this.loop = loop;
    this.term = term;
    this.whenDurable = whenDurable;
    this.orphans = new Orphans(loop.keys(), state);
    long now = loop.strand().nanoTime();
    this.nextDropsNanos = now;
    this.nextOrphansNanos = now + DROPS_EVERY.toNanos();
  }

  void close() {
    closed = true;
  }

  /** The history up to and with this entry is dropped, and that is durable. */
  void historyIsDropped(long upTo) {
    droppedHistory = Math.max(droppedHistory, upTo);
  }

  void tick() {
    long now = loop.strand().nanoTime();
    if (now >= nextDropsNanos && !dropping && sweptHistory < droppedHistory) {
      nextDropsNanos = now + DROPS_EVERY.toNanos();
      dropping = true;
      dropPage(droppedHistory);
    }
    if (now >= nextOrphansNanos) {
      nextOrphansNanos = now + loop.settings().upkeep().orphansEvery().toNanos();
      orphansLeft = ORPHANS_PER_LOOK;
      orphans.beginLook();
      List<ByteString> folders = orphans.folders();
      look(folders, 0, folders.getFirst(), new HashMap<>());
    }
  }

  /** The oldest records first; what stands beside a record goes before it. */
  private void dropPage(long upTo) {
    ByteString end = loop.keys().history(upTo + 1);
    Answer.of(
        loop.reads()
            .list(
                new ListRequest(loop.keys().history(), end, HISTORY_PER_PAGE, 0, false), DEADLINE),
        loop.strand(),
        page -> {
          if (closed) {
            return;
          }
          if (page.keyValues().isEmpty()) {
            dropping = false;
            sweptHistory = upTo;
          } else {
            drop(page.keyValues(), upTo);
          }
        },
        failure -> dropping = false);
  }

  private void drop(List<KeyValue> page, long upTo) {
    List<Op> beside = new ArrayList<>();
    for (KeyValue entry : page) {
      for (HistoryRun run : runs(entry)) {
        beside.addAll(orphans.besideRecord(run));
      }
    }
    ByteString end = Keys.after(page.getLast().key());
    List<Op> records = List.of(new Op.DeleteRange(loop.keys().history(), end));
    delete(beside, 0, () -> delete(records, 0, () -> dropPage(upTo)));
  }

  /** What stands beside a damaged record is found as an orphan some day. */
  private static List<HistoryRun> runs(KeyValue entry) {
    try {
      return History.parse(entry.value()).getRunsList();
    } catch (IllegalStateException e) {
      LOG.warn("{} is not readable and is deleted", entry.key().toStringUtf8());
      return List.of();
    }
  }

  private void delete(List<Op> ops, int from, Runnable then) {
    if (from >= ops.size()) {
      then.run();
      return;
    }
    int to = Math.min(ops.size(), from + DELETES_PER_TXN);
    txn(List.of(), ops.subList(from, to), () -> delete(ops, to, then), () -> dropping = false);
  }

  private void look(
      List<ByteString> folders, int folder, ByteString from, Map<ByteString, Long> found) {
    if (folder == folders.size()) {
      suspects = found;
      return;
    }
    ListRequest request =
        new ListRequest(from, Keys.end(folders.get(folder)), KEYS_PER_PAGE, 0, true);
    Answer.of(
        loop.reads().list(request, DEADLINE),
        loop.strand(),
        page -> {
          if (closed) {
            return;
          }
          judge(page.keyValues(), found);
          if (page.more()) {
            look(folders, folder, Keys.after(page.keyValues().getLast().key()), found);
          } else {
            int next = folder + 1;
            look(folders, next, next < folders.size() ? folders.get(next) : from, found);
          }
        },
        failure -> {});
  }

  private void judge(List<KeyValue> keys, Map<ByteString, Long> found) {
    for (KeyValue key : keys) {
      if (orphans.isNamed(key.key())) {
        continue;
      }
      Long seenBefore = suspects.get(key.key());
      if (seenBefore != null && seenBefore == key.modRevision() && orphansLeft > 0) {
        orphansLeft--;
        whenDurable.accept(() -> delete(key));
      } else {
        found.put(key.key(), key.modRevision());
      }
    }
  }

  /** The state by which nobody names it runs ahead of the journal, by which somebody may. */
  private void delete(KeyValue orphan) {
    if (!closed) {
      txn(
          List.of(new Compare.ModRevision(orphan.key(), orphan.modRevision())),
          List.of(new Op.Delete(orphan.key())),
          () -> {},
          () -> {});
    }
  }

  private void txn(List<Compare> also, List<Op> deletes, Runnable then, Runnable otherwise) {
    List<Compare> compares = new ArrayList<>(also);
    compares.add(new Compare.ModRevision(loop.keys().leader(), term));
    Txn txn = new Txn(compares, deletes, List.of(new Op.Get(loop.keys().leader())));
    Answer.of(
        loop.reads().txn(txn, DEADLINE),
        loop.strand(),
        reply -> {
          if (!closed && reply.succeeded()) {
            then.run();
          } else {
            otherwise.run();
          }
        },
        failure -> otherwise.run());
  }
}
