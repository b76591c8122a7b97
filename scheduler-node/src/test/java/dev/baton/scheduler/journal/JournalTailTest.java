package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Leadership;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import dev.baton.proto.journal.v1.JournalEntry;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.model.AttemptRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JournalTailTest extends RealEtcd {
  private UnkindEtcd line;
  private RandomLeader leader;
  private Follower follower;

  JournalTailTest() {
    super(1);
  }

  @BeforeEach
  void fresh() {
    line = new UnkindEtcd(client("tail"));
    leader = new RandomLeader(keys, 42);
    follower = new Follower();
  }

  @AfterEach
  void close() {
    onStrand(follower.tail::close);
    line.close();
  }

  /** A tail on a replica of its own, and what it told. */
  private final class Follower implements JournalTail.Listener {
    final Replica replica = new Replica(RandomLeader.GENERATION);
    final JournalClock clock = new JournalClock();
    final JournalTail tail = new JournalTail(line, keys, strand, replica, clock, this);
    final List<String> words = new CopyOnWriteArrayList<>();
    final AtomicLong applied = new AtomicLong();

    @Override
    public void onApplied(Entry entry) {
      applied.set(entry.seq());
    }

    @Override
    public void onTailLost(String reason) {
      words.add("lost: " + reason);
    }

    @Override
    public void onTailFault(String what, RuntimeException cause) {
      words.add("fault: " + what + ": " + cause.getMessage());
    }

    @Override
    public void onUnknownEvent(UnknownEventException cause) {
      words.add("unknown");
    }

    void awaitLeader() {
      awaitUntil("entry " + leader.replica.seq(), () -> applied.get() == leader.replica.seq());
      assertEquals(
          SnapshotCodecTest.bytes(leader.replica),
          onStrand(() -> SnapshotCodecTest.bytes(replica)),
          "it stands where the leader does");
      assertEquals(List.of(), words);
    }

    void awaitWord(String beginning) {
      awaitUntil(beginning, () -> !words.isEmpty());
      assertTrue(words.getFirst().startsWith(beginning), () -> words.toString());
      assertEquals(1, words.size(), "it says so once");
    }
  }

  private void append(int entries) {
    leader.entries(entries).forEach(entry -> write(entry.ops()));
  }

  private void start(long revision) {
    onStrand(() -> follower.tail.start(revision));
  }

  @Test
  void shouldFollowWhatTheLeaderAppends() {
    start(revision());
    append(40);
    follower.awaitLeader();
    assertEquals(0, onStrand(follower.tail::lagEntries));
    assertEquals(Duration.ZERO, onStrand(follower.tail::lag));
    assertEquals(0, onStrand(follower.tail::keysRead), "the watch brought all");
    awaitUntil(
        "the head", () -> onStrand(() -> follower.tail.head().getSeq()) == leader.replica.seq());
    assertEquals(get(keys.head()).modRevision(), onStrand(follower.tail::headRevision));
    long time = onStrand(() -> follower.clock.now(strand.nanoTime()));
    assertTrue(Math.abs(time - leader.now()) < SOON.toMillis(), "journal time is the leader's");
  }

  @Test
  void shouldCatchUpInPagesFromFarBehind() {
    start(revision());
    line.hold(key -> true);
    append(400);
    line.failWatches(Kind.UNAVAILABLE);
    line.release();
    follower.awaitLeader();
    assertEquals(400, onStrand(follower.tail::keysRead));
    append(5);
    follower.awaitLeader();
    assertEquals(400, onStrand(follower.tail::keysRead), "it watches again");
  }

  @Test
  void shouldGoOnAfterItsRevisionWasCompacted() {
    long early = revision();
    append(30);
    compactNow();
    start(early);
    follower.awaitLeader();
    append(10);
    line.failWatches(Kind.COMPACTED);
    append(10);
    follower.awaitLeader();
  }

  @Test
  void shouldNoticeByTheHeadThatAWatchTellsNothing() {
    start(revision());
    line.hold(key -> key.startsWith(keys.journal()));
    append(10);
    awaitUntil("lag", () -> onStrand(follower.tail::lag).compareTo(Duration.ofMillis(500)) > 0);
    assertEquals(10, onStrand(follower.tail::lagEntries));
    awaitUntil("it reads", () -> line.reads.stream().anyMatch(k -> k.equals(keys.journal(1))));
    line.release();
    follower.awaitLeader();
  }

  @Test
  void shouldSayWhenWhatItNeedsIsBehindTheInstalledSnapshot() {
    append(20);
    for (int seq = 1; seq <= 10; seq++) {
      delete(keys.journal(seq));
    }
    start(revision());
    append(1);
    follower.awaitWord("lost: entry 1 ");
  }

  @Test
  void shouldReadADefinitionBeforeItAppliesWhatNeedsIt() {
    start(revision());
    line.hold(key -> key.startsWith(keys.specs()));
    append(60);
    awaitUntil("it asks", () -> line.reads.stream().anyMatch(k -> k.startsWith(keys.specs())));
    long before = follower.applied.get();
    assertTrue(before < leader.replica.seq());
    awaitAlways("it waits", Duration.ofMillis(300), () -> follower.applied.get() == before);
    line.release();
    follower.awaitLeader();
  }

  @Test
  void shouldReadADefinitionWhileItCatchesUp() {
    append(150);
    line.hold(key -> key.startsWith(keys.specs()));
    CompletableFuture<Void> finished = new CompletableFuture<>();
    onStrand(() -> follower.tail.finish(Leadership.UNKNOWN_HEAD, () -> finished.complete(null)));
    awaitUntil("it asks", () -> line.reads.stream().anyMatch(k -> k.startsWith(keys.specs())));
    awaitAlways("it reads no page again", Duration.ofMillis(300), () -> pages() == 1);
    line.release();
    await(finished);
    follower.awaitLeader();
  }

  private int pages() {
    return (int) line.reads.stream().filter(key -> key.startsWith(keys.journal())).count();
  }

  @Test
  void shouldWaitForADefinitionThatIsNotThereYet() {
    start(revision());
    List<Op> specs = new ArrayList<>();
    for (RandomLeader.Written written : leader.entries(40)) {
      List<Op> ops = new ArrayList<>(written.ops());
      ops.removeIf(op ->
          op instanceof Op.Put(var key, var v, var l)
              && key.startsWith(keys.specs())
              && specs.add(op));
      write(ops);
    }
    awaitUntil("it asks", () -> line.reads.stream().anyMatch(k -> k.startsWith(keys.specs())));
    write(specs);
    follower.awaitLeader();
  }

  @Test
  void shouldForgetWhatCameWhileADefinitionWasOutWhenItIsTooMuch() {
    start(revision());
    line.hold(key -> key.startsWith(keys.specs()));
    append(30);
    awaitUntil("it asks", () -> line.reads.stream().anyMatch(k -> k.startsWith(keys.specs())));
    for (int i = 0; i < 75; i++) {
      leader.add(new Event.TermOpened("n".repeat(480 << 10)));
      write(leader.close().ops());
    }
    awaitUntil("the watches are closed", () -> line.watches() == 0);
    line.release();
    follower.awaitLeader();
    append(3);
    follower.awaitLeader();
  }

  @Test
  void shouldStopAtAnEventThatItDoesNotKnow() {
    start(revision());
    append(3);
    follower.awaitLeader();
    put(
        keys.journal(4),
        JournalEntry.newBuilder()
            .setTerm(100)
            .setSeq(4)
            .addEvents(
                dev.baton.proto.journal.v1.Event.newBuilder()
                    .setUnknownFields(
                        UnknownFieldSet.newBuilder()
                            .addField(
                                99,
                                UnknownFieldSet.Field.newBuilder()
                                    .addLengthDelimited(ByteString.EMPTY)
                                    .build())
                            .build()))
            .build()
            .toByteString());
    follower.awaitWord("unknown");
    assertEquals(3, follower.applied.get());
    assertEquals(0, line.watches(), "it follows no more");
  }

  @Test
  void shouldSayWhenAnEntryCannotBeApplied() {
    start(revision());
    append(3);
    follower.awaitLeader();
    OpenEntry odd = new OpenEntry(keys, 100, 4, leader.now());
    odd.add(new Event.AttemptAssigned(new AttemptRef(1L << 50, 0, 1), 1), leader.now());
    put(keys.journal(4), odd.encodeEntry());
    follower.awaitWord("fault: applying entry 4: Expected run ");
    assertEquals(3, follower.applied.get());
  }

  @Test
  void shouldSayWhenBytesAreNoEntry() {
    start(revision());
    put(keys.journal(1), ByteString.copyFromUtf8("no entry"));
    follower.awaitWord("fault: reading what a watch told: Expected a journal entry");
  }

  @Test
  void shouldNotEndOnAPageThatWasAskedForBeforeTheElectionWasWon() {
    start(revision());
    append(5);
    follower.awaitLeader();
    line.hold(key -> key.startsWith(keys.journal()));
    line.failWatches(Kind.UNAVAILABLE);
    awaitUntil("it reads", () -> pages() > 0);
    // Answered already, but on its way: what the old leader appends now is not in it.
    awaitUntil("answered", () -> line.calls.get() >= 2);
    append(5);
    CompletableFuture<Void> finished = new CompletableFuture<>();
    onStrand(() -> follower.tail.finish(Leadership.UNKNOWN_HEAD, () -> finished.complete(null)));
    line.release();
    await(finished);
    follower.awaitLeader();
    assertEquals(get(keys.head()).modRevision(), onStrand(follower.tail::headRevision));
    assertEquals(0, line.watches(), "it follows no more");
  }

  private void finish(long lastHead) {
    CompletableFuture<Void> finished = new CompletableFuture<>();
    onStrand(() -> follower.tail.finish(lastHead, () -> finished.complete(null)));
    await(finished);
  }

  @Test
  void shouldFinishAtOnceWhenItLacksNothing() {
    start(revision());
    append(20);
    follower.awaitLeader();
    line.reads.clear();
    finish(get(keys.head()).modRevision());
    assertEquals(List.of(), line.reads);
    follower.awaitLeader();
    assertEquals(0, line.watches(), "it follows no more");
  }

  @Test
  void shouldReadOnceMoreWhenTheLastHeadIsNotKnown() {
    start(revision());
    append(20);
    follower.awaitLeader();
    line.reads.clear();
    finish(Leadership.UNKNOWN_HEAD);
    assertEquals(2, line.reads.size(), "one page and the head");
    follower.awaitLeader();
  }

  @Test
  void shouldReadWhatTheLastHeadSaysIsMissing() {
    start(revision());
    append(5);
    follower.awaitLeader();
    line.reads.clear();
    long head = get(keys.head()).modRevision();
    finish(head + 1);
    assertEquals(2, line.reads.size(), "a head that has not come here is asked for");
  }

  @Test
  void shouldNotTakeAHeadThatIsAlwaysOneAheadForLag() {
    start(revision());
    List<RandomLeader.Written> entries = leader.entries(45);
    AtomicLong worst = new AtomicLong();
    long began = System.nanoTime();
    for (int i = 0; i < entries.size() - 1; i++) {
      List<Op> ops = new ArrayList<>(entries.get(i).ops());
      ops.removeIf(op -> op instanceof Op.Put(var key, var v, var l) && key.equals(keys.head()));
      ops.addAll(
          entries.get(i + 1).ops().stream()
              .filter(op -> op instanceof Op.Put(var key, var v, var l) && key.equals(keys.head()))
              .toList());
      write(ops);
      long seq = i + 1L;
      awaitUntil("entry " + seq, () -> follower.applied.get() == seq);
      worst.accumulateAndGet(onStrand(follower.tail::lag).toMillis(), Math::max);
      awaitAlways("a while", Duration.ofMillis(30), () -> true);
    }
    long took = Duration.ofNanos(System.nanoTime() - began).toMillis();
    assertTrue(worst.get() < took / 3, () -> "the lag came to " + worst + " ms of " + took);
  }

  @Test
  void shouldAskRarelyWhileEtcdIsAway() {
    start(revision());
    append(3);
    follower.awaitLeader();
    line.down = true;
    line.failWatches(Kind.UNAVAILABLE);
    awaitAlways("a while", Duration.ofSeconds(3), () -> true);
    int before = line.calls.get();
    awaitAlways("a while", Duration.ofSeconds(4), () -> true);
    int asked = line.calls.get() - before;
    assertTrue(asked > 0, "it goes on trying");
    assertTrue(asked <= 8, () -> asked + " calls in 4 s");
    line.down = false;
    append(3);
    follower.awaitLeader();
    assertEquals(2, line.watches());
  }

  @Test
  void shouldTellNothingAfterItWasClosed() {
    start(revision());
    append(1);
    follower.awaitLeader();
    onStrand(follower.tail::close);
    List<Integer> later = IntStream.range(0, 5).boxed().toList();
    later.forEach(i -> append(1));
    awaitAlways("silence", Duration.ofMillis(300), () -> follower.applied.get() == 1);
  }
}
