package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The fenced append and the check of the fence on three real members. */
class AppenderTest extends RealEtcd {
  AppenderTest() {
    super(3);
  }

  @Test
  void shouldAppendEntriesInSequenceWithWhatIsBesideThem() {
    long term = put(keys.leader(), "me");
    Told told = new Told();
    Appender appender = appender(etcd, term, 0, far(), told);
    List<Op> beside = new ArrayList<>();
    for (int i = 0; i < Limits.OPERATIONS - 2; i++) {
      beside.add(new Op.Put(keys.spec(i), text("spec"), 0));
    }
    onStrand(() ->
        appender.append(1, ByteString.copyFrom(new byte[Limits.ENTRY_BYTES]), head(1), beside));
    awaitUntil("entry 1", SOON, () -> told.contains("durable 1"));
    onStrand(() -> appender.touch(text("touched")));
    awaitUntil("the touch", SOON, () -> told.contains("touched"));
    onStrand(() -> appender.append(2, text("two"), head(2), List.of()));
    awaitUntil("entry 2", SOON, () -> told.contains("durable 2"));
    assertEquals(List.of("durable 1", "touched", "durable 2"), told.words);
    Etcd.KeyValue head = read(keys.head()).keyValue();
    assertNotNull(head);
    assertEquals(head(2), head.value());
    assertEquals(appender.headRevision(), head.modRevision());
    assertNotNull(read(keys.spec(Limits.OPERATIONS - 3)).keyValue());
    assertNotNull(read(keys.journal(2)).keyValue());
  }

  @Test
  void shouldBeFencedByAnotherLeader() {
    long term = put(keys.leader(), "me");
    Told told = new Told();
    Appender appender = appender(etcd, term, 0, far(), told);
    put(keys.leader(), "another");
    onStrand(() -> appender.append(1, text("one"), head(1), List.of()));
    awaitUntil("the fence", SOON, () -> told.contains("fenced"));
    assertNull(read(keys.journal(1)).keyValue());
    assertTrue(appender.isOver());
    assertEquals(List.of("fenced"), told.words);
  }

  @Test
  void shouldBeFencedWhenNobodyLeads() {
    long term = put(keys.leader(), "me");
    Told told = new Told();
    Appender appender = appender(etcd, term, 0, far(), told);
    delete(keys.leader());
    onStrand(() -> appender.append(1, text("one"), head(1), List.of()));
    awaitUntil("the fence", SOON, () -> told.contains("fenced"));
  }

  @Test
  void shouldRecogniseAnEntryWhoseAnswerWasLost() {
    long term = put(keys.leader(), "me");
    UnkindEtcd network = new UnkindEtcd(etcd);
    network.answersToLose.set(2);
    Told told = new Told();
    Appender appender = appender(network, term, 0, far(), told);
    onStrand(() -> appender.append(1, text("one"), head(1), List.of()));
    awaitUntil("entry 1", SOON, () -> told.contains("durable 1"));
    assertEquals(3, network.sent.size());
    assertEquals(1, List.copyOf(network.sent).stream().distinct().count(), "identical copies");
    Etcd.KeyValue entry = read(keys.journal(1)).keyValue();
    assertNotNull(entry);
    assertEquals(entry.createRevision(), entry.modRevision(), "written once");
    assertEquals(appender.headRevision(), entry.modRevision());
    onStrand(() -> appender.append(2, text("two"), head(2), List.of()));
    awaitUntil("entry 2", SOON, () -> told.contains("durable 2"));
  }

  @Test
  void shouldGoOnThroughAnotherMemberAndIgnoreALateCopy() {
    long term = put(keys.leader(), "me");
    try (Etcd own = client("append");
        Etcd late = client("late")) {
      await(own.get(keys.leader(), SOON));
      await(late.get(keys.leader(), SOON));
      UnkindEtcd network = new UnkindEtcd(own);
      Told told = new Told();
      Appender appender = appender(network, term, 0, far(), told);
      cluster.member(0).pause();
      long start = System.nanoTime();
      onStrand(() ->
          appender.append(
              1, text("one"), head(1), List.of(new Op.Put(keys.spec(1), text("spec"), 0))));
      awaitUntil("the first copy", SOON, () -> !network.sent.isEmpty());
      // The same, as a member that is stopped holds it until it goes on.
      var copy = late.txn(network.sent.getFirst(), Duration.ofSeconds(60));
      awaitUntil("entry 1", SOON, () -> told.contains("durable 1"));
      assertTrue(System.nanoTime() - start < Duration.ofSeconds(4).toNanos());
      // What the entry was for is done, and it is truncated.
      await(
          own.txn(
              new Txn(
                  List.of(),
                  List.of(new Op.Delete(keys.journal(1)), new Op.Delete(keys.spec(1))),
                  List.of()),
              SOON));
      assertFalse(copy.isDone());
      cluster.member(0).resume();
      // A member drops what it holds if the members elect meanwhile: then one more copy comes late.
      assertFalse(
          await(
                  copy.exceptionallyCompose(
                      dropped -> late.txn(network.sent.getFirst(), Duration.ofSeconds(60))))
              .succeeded());
      assertNull(read(keys.journal(1)).keyValue());
      assertNull(read(keys.spec(1)).keyValue());
      Etcd.KeyValue head = read(keys.head()).keyValue();
      assertNotNull(head);
      assertEquals(appender.headRevision(), head.modRevision());
    }
  }

  @Test
  void shouldGiveUpAtTheLeaseDeadline() {
    long term = put(keys.leader(), "me");
    UnkindEtcd network = new UnkindEtcd(etcd);
    Told told = new Told();
    long deadline = System.nanoTime() + Duration.ofMillis(1500).toNanos();
    Appender appender = appender(network, term, 0, deadline, told);
    network.cut = true;
    onStrand(() -> appender.append(1, text("one"), head(1), List.of()));
    awaitUntil("the end", SOON, () -> told.contains("deadline"));
    long late = System.nanoTime() - deadline;
    assertTrue(late >= 0 && late < Duration.ofSeconds(1).toNanos(), late + " ns late");
    assertTrue(
        network.sent.size() >= 3 && network.sent.size() <= 4, network.sent.size() + " copies");
    assertEquals(List.of("deadline"), told.words);
  }

  @Test
  void shouldCallAForeignHeadAFault() {
    long term = put(keys.leader(), "me");
    put(keys.head(), "foreign");
    Told told = new Told();
    Appender appender = appender(etcd, term, 0, far(), told);
    onStrand(() -> appender.append(1, text("one"), head(1), List.of()));
    awaitUntil("the fault", SOON, () -> told.contains("fault"));
    assertNull(read(keys.journal(1)).keyValue());
  }

  @Test
  void shouldCallWhatEtcdRefusesAFault() {
    long term = put(keys.leader(), "me");
    for (List<Op> beside :
        List.of(
            List.<Op>of(new Op.Put(keys.head(), text("twice"), 0)),
            List.<Op>of(
                new Op.Put(keys.spec(1), ByteString.copyFrom(new byte[Limits.BESIDE_BYTES]), 0)))) {
      Told told = new Told();
      Appender appender = appender(etcd, term, 0, far(), told);
      onStrand(() -> appender.append(1, text("one"), head(1), beside));
      awaitUntil("the fault", SOON, () -> told.contains("fault"));
    }
    assertNull(read(keys.journal(1)).keyValue());
  }

  @Test
  void shouldTellWhetherTheTermLeads() {
    long term = put(keys.leader(), "me");
    UnkindEtcd network = new UnkindEtcd(etcd);
    FenceCheck check = new FenceCheck(network, strand, keys, term, this::farNanos);
    List<FenceCheck.Outcome> first = new CopyOnWriteArrayList<>();
    List<FenceCheck.Outcome> second = new CopyOnWriteArrayList<>();
    onStrand(() -> {
      check.check(first::add);
      check.check(first::add);
      // Sent by then, so these wait for the next.
      strand.execute(() -> {
        check.check(second::add);
        check.check(second::add);
      });
    });
    awaitUntil("answers", SOON, () -> first.size() == 2 && second.size() == 2);
    assertEquals(2, network.sent.size());
    put(keys.leader(), "another");
    List<FenceCheck.Outcome> third = new CopyOnWriteArrayList<>();
    onStrand(() -> check.check(third::add));
    awaitUntil("an answer", SOON, () -> third.size() == 1);
    assertEquals(List.of(FenceCheck.Outcome.LEADS, FenceCheck.Outcome.LEADS), first);
    assertEquals(List.of(FenceCheck.Outcome.FENCED), third);
  }

  @Test
  void shouldNotKnowWhetherTheTermLeadsWithoutAnAnswer() {
    UnkindEtcd network = new UnkindEtcd(etcd);
    network.cut = true;
    long deadline = System.nanoTime() + Duration.ofMillis(700).toNanos();
    FenceCheck check = new FenceCheck(network, strand, keys, 1, () -> deadline);
    List<FenceCheck.Outcome> told = new CopyOnWriteArrayList<>();
    onStrand(() -> check.check(told::add));
    awaitUntil("the end", SOON, () -> told.size() == 1);
    assertEquals(List.of(FenceCheck.Outcome.UNKNOWN), told);
    assertTrue(System.nanoTime() - deadline >= 0);
  }

  private Appender appender(Etcd client, long term, long head, long deadline, Told told) {
    return new Appender(client, strand, keys, term, head, () -> deadline, told);
  }

  private long far() {
    return farNanos();
  }

  private long farNanos() {
    return System.nanoTime() + Duration.ofSeconds(30).toNanos();
  }

  private static ByteString head(long seq) {
    return text("head " + seq);
  }

  /** What the appender said. */
  static final class Told implements Appender.Listener {
    final List<String> words = new CopyOnWriteArrayList<>();

    boolean contains(String word) {
      return words.contains(word);
    }

    @Override
    public void onDurable(long seq, long revision) {
      words.add("durable " + seq);
    }

    @Override
    public void onTouched(long revision) {
      words.add("touched");
    }

    @Override
    public void onFenced() {
      words.add("fenced");
    }

    @Override
    public void onFault(String what) {
      words.add("fault");
    }

    @Override
    public void onDeadline() {
      words.add("deadline");
    }

    @Override
    public void onStalled(Kind kind) {
      words.add("stalled " + kind);
    }

    @Override
    public void onResumed() {
      words.add("resumed");
    }
  }
}
