package dev.baton.scheduler.simulation;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Keys;
import dev.baton.coordination.simulation.Commit;
import dev.baton.proto.journal.v1.Head;
import dev.baton.proto.v1.ClusterRecord;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.journal.Entry;
import dev.baton.scheduler.journal.Ledger;
import dev.baton.scheduler.journal.Replica;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.workflow.Workflow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The reference: sees each change of the store as etcd commits it, judges each entry of the journal
 * before it counts, and folds it.
 */
final class JournalObserver {
  private static final long TOLERANCE_MS = 1_000;
  private static final int PRINT_EVERY = 24;

  private final Keys keys;
  private final Judge judge;
  private final Coverage coverage;
  private final Trace trace;
  private final Surroundings around;
  private final TaskBook book;
  private final Map<Long, Print> prints = new TreeMap<>();
  private final List<Claim> claims = new ArrayList<>();
  private final TreeSet<Long> specsThere = new TreeSet<>();

  private @Nullable Replica replica;
  private long generation;
  private long leaderRevision;
  private long leaderSinceMillis;

  /** Of each entry. */
  private final Map<Long, Long> terms = new HashMap<>();

  private long openedAfterMillis;
  private long headBeforeMillis;
  private long lastHeadMillis;
  private long lastOffset = Long.MIN_VALUE;
  private long lastTime;
  private long offsetTerm;

  /**
   * What the observer knows of the world around the journal.
   *
   * @param workflows by the hash of their definitions
   * @param trueMillis true time, ms
   * @param range reads the newest state of etcd
   * @param freshLeader whether a term's leader has seen no sign of the one before it
   */
  record Surroundings(
      Function<SpecHash, Workflow> workflows,
      LongSupplier trueMillis,
      BiFunction<ByteString, ByteString, List<KeyValue>> range,
      FreshLeader freshLeader) {}

  /** Whether the leader of a term may take journal time from its wall clock. */
  interface FreshLeader {
    boolean isFresh(long term, long lastHeadMillis);
  }

  private record Print(long term, StatePrint print) {}

  /** What a node's state was at an entry, by its own word. */
  private record Claim(String node, long seq, long term, StatePrint print) {}

  JournalObserver(
      Keys keys, Judge judge, Coverage coverage, Trace trace, TaskBook book, Surroundings around) {
    this.keys = keys;
    this.judge = judge;
    this.coverage = coverage;
    this.trace = trace;
    this.book = book;
    this.around = around;
  }

  /** The last entry. */
  long seq() {
    return replica == null ? 0 : replica.seq();
  }

  /** The term of an entry; 0: there is none. */
  long termOf(long seq) {
    return terms.getOrDefault(seq, 0L);
  }

  /** Its term. */
  long term() {
    return replica == null ? 0 : replica.term();
  }

  TaskBook book() {
    return book;
  }

  ClusterState state() {
    return replica().state();
  }

  boolean hasBegun() {
    return replica != null;
  }

  /** Mod revision of the leader key; 0: nobody leads. */
  long leaderRevision() {
    return leaderRevision;
  }

  private Replica replica() {
    if (replica == null) {
      throw new IllegalStateException("Expected a cluster that has an identity");
    }
    return replica;
  }

  /** The next entry, from the given one on, at which states are compared. */
  static long comparedAfter(long seq) {
    return (seq / PRINT_EVERY + 1) * PRINT_EVERY;
  }

  // What etcd commits.

  void commit(Commit commit) {
    @Nullable ByteString entry = null;
    long entryKey = 0;
    @Nullable ByteString head = null;
    boolean leaderPut = false;
    boolean stored = false;
    for (KeyValue put : commit.puts()) {
      ByteString key = put.key();
      if (key.equals(keys.head())) {
        head = put.value();
      } else if (key.startsWith(keys.journal())) {
        entry = put.value();
        entryKey = Keys.numberOf(key);
      } else if (key.equals(keys.leader())) {
        leaderPut = true;
      } else if (key.equals(keys.cluster())) {
        begin(put.value());
      } else if (key.startsWith(keys.specs())) {
        specsThere.add(Keys.numberOf(key));
      } else if (key.equals(keys.snapshot())) {
        stored = true;
      }
    }
    if (entry != null || head != null) {
      if (head == null) {
        throw judge.violated(
            Invariant.GAPLESS, "Entry %d is written without a head beside it", entryKey);
      }
      write(entry == null ? null : Ledger.entry(entry), entryKey, Ledger.head(head));
    }
    if (leaderPut) {
      leaderRevision = commit.revision();
      leaderSinceMillis = around.trueMillis().getAsLong();
      trace.add("etcd", "leader key is of revision " + leaderRevision);
    }
    for (ByteString key : commit.deletes()) {
      stored |= deleted(key);
    }
    if (stored) {
      compareLoad();
    }
  }

  private void begin(ByteString identity) {
    try {
      generation = ClusterRecord.parseFrom(identity).getGeneration();
      replica = Ledger.empty(generation);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
  }

  /** True: whoever loads may notice. */
  private boolean deleted(ByteString key) {
    if (key.equals(keys.leader())) {
      leaderRevision = 0;
      trace.add("etcd", "leader key is gone");
    } else if (key.startsWith(keys.specs())) {
      long number = Keys.numberOf(key);
      specsThere.remove(number);
      coverage.see(Sight.SPEC_DELETED);
      judge.check(
          Invariant.LOAD,
          !state().isSpecNamed(number),
          "Definition %d is deleted, and the journal names it",
          number);
      return true;
    } else if (key.startsWith(keys.snapshots())) {
      return true;
    } else if (key.startsWith(keys.payloads()) || key.startsWith(keys.params())) {
      coverage.see(Sight.LONG_TEXT_DELETED);
    } else if (key.startsWith(keys.journal())) {
      long seq = Keys.numberOf(key);
      judge.check(
          Invariant.LOAD,
          seq <= state().installedSnapshot(),
          "Entry %d is deleted, and the snapshot that is to be loaded is of entry %d",
          seq,
          state().installedSnapshot());
    }
    return false;
  }

  /**
   * While an entry is being written: what it tells was not decided before this true time, ms. One
   * is in flight at a time, so it was opened when the last one left, after the one before that had
   * come.
   */
  long earliestDecisionMillis() {
    return openedAfterMillis;
  }

  /** An entry with its head, or a touch of the head alone. */
  void write(@Nullable Entry entry, long key, Head head) {
    judge.check(
        Invariant.ORDERED_TERMS,
        head.getTerm() == leaderRevision,
        "Term %d writes %s, but the leader key is of revision %d",
        head.getTerm(),
        entry == null ? "a touch" : "entry " + key,
        leaderRevision);
    judge.check(
        Invariant.ORDERED_TERMS,
        head.getTerm() >= term(),
        "Term %d writes after term %d",
        head.getTerm(),
        term());
    if (entry == null) {
      judge.check(
          Invariant.GAPLESS,
          head.getSeq() == seq(),
          "A touch says that the last entry is %d, but it is %d",
          head.getSeq(),
          seq());
      passTime(head);
      return;
    }
    judge.check(
        Invariant.GAPLESS,
        entry.seq() == seq() + 1 && key == entry.seq() && head.getSeq() == entry.seq(),
        "Entry %d is written as %d with a head of %d after entry %d",
        entry.seq(),
        key,
        head.getSeq(),
        seq());
    judge.check(
        Invariant.ORDERED_TERMS,
        entry.term() == head.getTerm(),
        "Entry %d is of term %d and its head of term %d",
        entry.seq(),
        entry.term(),
        head.getTerm());
    passTime(head);
    coverage.see(Sight.ENTRY);
    trace.add("journal", "entry " + entry.seq() + " of term " + entry.term() + ": " + words(entry));
    fold(entry);
  }

  private static String words(Entry entry) {
    StringBuilder text = new StringBuilder();
    for (Entry.Stamped stamped : entry.events()) {
      text.append(text.isEmpty() ? "" : ", ").append(word(stamped.event()));
    }
    return text.toString();
  }

  private static String word(Event event) {
    return switch (event) {
      case Event.RunCreated created -> "created " + created.id() + " as " + created.number();
      case Event.AttemptAssigned(var attempt, int worker) ->
          "assigned " + attempt + " to " + worker;
      case Event.AttemptAdopted(var attempt, int worker) -> "adopted " + attempt + " by " + worker;
      case Event.AttemptEnded ended ->
          "ended " + ended.attempt() + " " + ended.outcome() + " retry " + ended.retryAfterMs();
      case Event.TermOpened e -> e.toString();
      case Event.SpecAdded e -> "spec " + e.number();
      case Event.SpecDropped e -> e.toString();
      case Event.WorkerNamed e -> e.ref() + " is " + e.life();
      case Event.RunCancelled e -> "cancelled " + e.run();
      case Event.RunTimedOut e -> e.toString();
      case Event.RunRetired e -> "retired " + e.run();
      case Event.HistoryDropped e -> e.toString();
      case Event.SnapshotInstalled e -> e.toString();
      case Event.WorkerCordoned e -> e.toString();
      case Event.WorkerUncordoned e -> e.toString();
    };
  }

  private void fold(Entry entry) {
    terms.put(entry.seq(), entry.term());
    Replica folded = replica();
    for (Entry.Stamped stamped : entry.events()) {
      book.apply(stamped.event(), entry.seq(), stamped.at());
      if (stamped.event() instanceof Event.SpecAdded added) {
        judge.check(
            Invariant.LOAD,
            specsThere.contains(added.number()),
            "Definition %d is added and not there",
            added.number());
        folded.definitions().put(added.number(), around.workflows().apply(added.hash()));
      }
      see(stamped.event());
    }
    try {
      Ledger.apply(folded, entry);
    } catch (RuntimeException e) {
      throw judge.violated(Invariant.FOLD, "Entry %d can't be applied: %s", entry.seq(), e);
    }
    if (entry.seq() % PRINT_EVERY == 0) {
      prints.put(entry.seq(), new Print(entry.term(), StatePrint.of(folded.state())));
      judgeClaims();
    }
  }

  private void see(Event event) {
    switch (event) {
      case Event.AttemptEnded ended -> {
        switch (ended.outcome()) {
          case LOST -> coverage.see(Sight.LOSS);
          case RETURNED -> coverage.see(Sight.RETURN);
          case TIMEOUT -> coverage.see(Sight.TASK_TIMEOUT);
          case FAILED -> {
            if (!ended.isFinal()) {
              coverage.see(Sight.RETRY);
            }
          }
          case SUCCESS, CANCELLED -> {}
        }
      }
      case Event.AttemptAdopted e -> coverage.see(Sight.ADOPTION);
      case Event.HistoryDropped e -> coverage.see(Sight.HISTORY_DROPPED);
      case Event.SpecDropped e -> coverage.see(Sight.SPEC_DROPPED);
      case Event.SnapshotInstalled e -> coverage.see(Sight.SNAPSHOT);
      case Event.TermOpened e -> coverage.see(Sight.ELECTION);
      case Event.SpecAdded e -> {}
      case Event.RunCreated e -> {}
      case Event.WorkerNamed e -> {}
      case Event.AttemptAssigned e -> {}
      case Event.RunCancelled e -> {}
      case Event.RunTimedOut e -> {}
      case Event.RunRetired e -> {}
      case Event.WorkerCordoned e -> coverage.see(Sight.CORDONED);
      case Event.WorkerUncordoned e -> coverage.see(Sight.UNCORDONED);
    }
  }

  // Journal time.

  private void passTime(Head head) {
    checkTime(head);
    openedAfterMillis = headBeforeMillis;
    headBeforeMillis = lastHeadMillis;
    lastHeadMillis = around.trueMillis().getAsLong();
  }

  /** It never runs faster than true time: what is due by it does not come early. */
  private void checkTime(Head head) {
    long offset = head.getTime() - around.trueMillis().getAsLong();
    judge.check(
        Invariant.TIMERS,
        head.getTime() >= lastTime,
        "Journal time goes back by %d ms",
        lastTime - head.getTime());
    lastTime = head.getTime();
    if (head.getTerm() != offsetTerm) {
      offsetTerm = head.getTerm();
      if (around.freshLeader().isFresh(head.getTerm(), lastHeadMillis)) {
        // Its first write may have been decided as early as it has led.
        long waited = around.trueMillis().getAsLong() - leaderSinceMillis;
        lastOffset = Math.max(lastOffset, offset + waited);
      }
    }
    if (lastOffset == Long.MIN_VALUE) {
      lastOffset = offset;
    }
    judge.check(
        Invariant.TIMERS,
        offset <= lastOffset + TOLERANCE_MS,
        "Journal time in term %d is %d ms ahead of what true time allows",
        head.getTerm(),
        offset - lastOffset);
    lastOffset = Math.max(lastOffset, offset);
  }

  // States.

  /** A node says what its state was at an entry. */
  void claim(String node, long seq, ClusterState state) {
    if (seq > 0 && seq % PRINT_EVERY == 0) {
      claims.add(new Claim(node, seq, state.term(), StatePrint.of(state)));
      judgeClaims();
    }
  }

  private void judgeClaims() {
    claims.removeIf(claim -> {
      Print print = prints.get(claim.seq());
      if (print == null) {
        return false;
      }
      // An entry that was decided in a term and never written says nothing.
      if (print.term() == claim.term()) {
        compare(claim.node(), claim.seq(), claim.print(), print.print());
      }
      return true;
    });
  }

  /** A node's state now, when nothing is under way. */
  void compareNow(String node, long seq, ClusterState state) {
    if (seq == seq() && state.term() == term()) {
      compare(node, seq, StatePrint.of(state), StatePrint.of(state()));
    }
  }

  private void compare(String node, long seq, StatePrint claimed, StatePrint folded) {
    coverage.see(Sight.FOLD_COMPARED);
    judge.check(
        Invariant.FOLD,
        claimed.equals(folded),
        "%s differs from the journal at entry %d in %s",
        node,
        seq,
        claimed.differsIn(folded));
  }

  /** Whoever loads now gets what is here. */
  void compareLoad() {
    if (seq() == 0) {
      return;
    }
    Replica loaded;
    try {
      loaded = Ledger.load(generation, keys, around.range());
    } catch (IllegalStateException e) {
      throw judge.violated(Invariant.LOAD, "Nobody can load at entry %d: %s", seq(), e);
    }
    coverage.see(Sight.LOAD_COMPARED);
    judge.check(
        Invariant.LOAD,
        loaded.seq() == seq() && loaded.term() == term(),
        "A load ends at entry %d of term %d, but the journal at entry %d of term %d",
        loaded.seq(),
        loaded.term(),
        seq(),
        term());
    StatePrint print = StatePrint.of(loaded.state());
    judge.check(
        Invariant.LOAD,
        print.equals(StatePrint.of(state())),
        "A load at entry %d differs in %s",
        seq(),
        print.differsIn(StatePrint.of(state())));
  }
}
