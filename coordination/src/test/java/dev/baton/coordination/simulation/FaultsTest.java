package dev.baton.coordination.simulation;

import static dev.baton.coordination.simulation.Scene.FROM;
import static dev.baton.coordination.simulation.Scene.KEY;
import static dev.baton.coordination.simulation.Scene.LONG;
import static dev.baton.coordination.simulation.Scene.SOON;
import static dev.baton.coordination.simulation.Scene.TO;
import static dev.baton.coordination.simulation.Scene.write;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.Lease;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.TxnReply;
import dev.baton.coordination.simulation.Faults.Way;
import dev.baton.coordination.simulation.Scene.Told;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Each unkindness happens when it is asked for, and not otherwise. */
class FaultsTest {
  private final Scene scene = new Scene(11);
  private final World world = scene.world;
  private final SimulatedEtcd cluster = scene.cluster;
  private final Faults faults = cluster.faults();
  private final Etcd etcd = scene.etcd;

  @Test
  void shouldLoseARequestForEver() {
    faults.loseRequests(1);
    long start = world.nanoTime();
    CompletableFuture<?> call = scene.put("1");
    assertFalse(call.isDone());
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(call));
    assertEquals(SOON.toNanos(), world.nanoTime() - start);
    faults.healAll();
    world.runFor(LONG);
    assertTrue(cluster.peek(KEY).isEmpty());
    assertEquals(1, cluster.count(Happening.REQUEST_LOST));
    assertEquals(1, cluster.count(Happening.UNKNOWN_OUTCOME));
  }

  @Test
  void shouldCarryOutARequestWhoseAnswerIsLost() {
    faults.loseAnswers(1);
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(scene.put("1")));
    assertEquals("1", cluster.peek(KEY).orElseThrow().value().toStringUtf8());
    assertEquals(1, cluster.count(Happening.ANSWER_LOST));
    assertEquals(0, cluster.count(Happening.LATE_APPLICATION));
  }

  @Test
  void shouldApplyARequestLongAfterItsCallerHasGivenUp() {
    faults.applyLate(1, Duration.ofSeconds(20));
    for (int i = 0; i < 20; i++) {
      var unused = scene.put("late " + i);
    }
    faults.healAll();
    world.runFor(Duration.ofSeconds(1));
    assertTrue(cluster.count(Happening.UNKNOWN_OUTCOME) > 10);
    long before = cluster.revision();
    world.runFor(LONG);
    assertTrue(cluster.revision() - before > 10);
    assertEquals(
        cluster.count(Happening.UNKNOWN_OUTCOME), cluster.count(Happening.LATE_APPLICATION));
    assertEquals(21, cluster.revision(), "each of them once");
  }

  @Test
  void shouldOvertakeOneRequestByAnother() {
    assertTrue(
        someSeed(seed -> {
          Scene other = new Scene(seed);
          CompletableFuture<TxnReply> first = other.put("1");
          CompletableFuture<TxnReply> second = other.put("2");
          return other.await(first).revision() > other.await(second).revision();
        }));
  }

  @Test
  void shouldRefuseUnderLoad() {
    faults.refuse(1);
    assertEquals(Kind.TOO_MANY_REQUESTS, scene.failure(scene.put("1")));
    assertEquals(Kind.TOO_MANY_REQUESTS, scene.failure(etcd.grant(SOON, SOON)));
    scene.await(etcd.get(KEY, SOON));
    assertTrue(cluster.peek(KEY).isEmpty());
  }

  @Test
  void shouldCutAnOwnerOffAndNobodyElse() {
    Etcd other = cluster.client("b");
    faults.cut("a");
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(etcd.get(KEY, SOON)));
    scene.await(other.get(KEY, SOON));
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(cluster.client("a").get(KEY, SOON)));
    faults.heal("a");
    scene.await(etcd.get(KEY, SOON));
  }

  @Test
  void shouldAnswerAsOfThePastWhereAMemberIsCutOffFromTheOthers() {
    long before = scene.await(scene.put("1")).revision();
    int member = faults.memberOf("a").getAsInt();
    Etcd other = cluster.client("b");
    Txn question = new Txn(List.of(new Compare.ModRevision(KEY, before)), List.of(), List.of());
    faults.isolate(member);
    Kind first = scene.failure(other.get(KEY, SOON));
    assertTrue(EnumSet.of(Kind.UNKNOWN_OUTCOME, Kind.UNAVAILABLE).contains(first), first.name());
    assertTrue(world.runUntil(LONG, () -> scene.answers(other)));
    scene.await(other.txn(write(new Op.Put(KEY, ByteString.copyFromUtf8("2"), 0)), LONG));
    TxnReply stale = scene.await(etcd.txn(question, SOON));
    assertTrue(stale.succeeded(), "by what that member knows");
    assertEquals(before, stale.revision());
    assertEquals(0, scene.await(etcd.status(SOON)).leaderId());
    faults.rejoin(member);
    assertFalse(scene.await(etcd.txn(question, SOON)).succeeded());
  }

  @Test
  void shouldReadAndWriteNothingWhereAMemberIsCutOffFromTheOthers() {
    faults.isolate(faults.memberOf("a").getAsInt());
    Kind kind = scene.failure(scene.put("1"));
    assertTrue(EnumSet.of(Kind.UNKNOWN_OUTCOME, Kind.UNAVAILABLE).contains(kind), kind.name());
    assertTrue(cluster.peek(KEY).isEmpty());
  }

  @Test
  void shouldTellAWatchNothingNewWhereAMemberIsCutOffFromTheOthers() {
    Told told = scene.watch(0);
    world.runFor(SOON);
    faults.isolate(faults.memberOf("a").getAsInt());
    Etcd other = cluster.client("b");
    assertTrue(world.runUntil(LONG, () -> scene.answers(other)));
    world.runFor(Duration.ofSeconds(5));
    assertEquals(List.of("open", "UNAVAILABLE"), told.words);
  }

  @Test
  void shouldCutOneWay() {
    faults.cut("a", Way.REQUESTS);
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(scene.put("1")));
    assertTrue(cluster.peek(KEY).isEmpty());
    faults.healAll();
    world.runFor(LONG);
    faults.cut("a", Way.ANSWERS);
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(scene.put("2")));
    assertEquals("2", cluster.peek(KEY).orElseThrow().value().toStringUtf8());
  }

  @Test
  void shouldLetSomeOfWhatWasCutOffArriveWhenItIsHealed() {
    Set<Boolean> arrived = new HashSet<>();
    LongStream.range(0, 20)
        .forEach(seed -> {
          Scene other = new Scene(seed);
          other.cluster.faults().cut("a");
          assertEquals(Kind.UNKNOWN_OUTCOME, other.failure(other.put("1")));
          other.cluster.faults().heal("a");
          other.world.runFor(LONG);
          arrived.add(other.cluster.peek(KEY).isPresent());
          assertEquals(
              other.cluster.peek(KEY).isPresent() ? 1 : 0,
              other.cluster.count(Happening.LATE_APPLICATION));
        });
    assertEquals(Set.of(true, false), arrived);
  }

  @Test
  void shouldTurnToAnotherMemberAfterOneThatHangs() {
    scene.await(scene.put("1"));
    faults.hang(0);
    world.runFor(Duration.ofSeconds(5)); // It may have led.
    assertEquals(Kind.UNKNOWN_OUTCOME, scene.failure(etcd.get(KEY, SOON)));
    scene.await(etcd.get(KEY, SOON));
    faults.resume(0);
    faults.hang(2);
    world.runFor(Duration.ofSeconds(5));
    scene.await(etcd.get(KEY, SOON)); // It stayed with member 1.
  }

  @Test
  void shouldServeNobodyWithoutAQuorum() {
    faults.hang(1);
    faults.hang(2);
    world.runFor(LONG);
    assertEquals(Optional.empty(), cluster.leader());
    for (int i = 0; i < 6; i++) {
      assertTrue(unknown(scene.failure(scene.put("1"))));
    }
    assertTrue(cluster.peek(KEY).isEmpty());
    faults.resume(1);
    assertTrue(world.runUntil(Duration.ofSeconds(5), () -> cluster.leader().isPresent()));
    assertTrue(world.runUntil(LONG, () -> scene.answers(etcd)));
  }

  @Test
  void shouldServeNobodyWhileEtcdElects() {
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    int[] served = {0};
    LongStream.range(0, 50)
        .forEach(seed -> {
          Scene other = new Scene(seed);
          long term = other.await(other.etcd.status(SOON)).raftTerm();
          other.cluster.faults().electLeader();
          assertEquals(Optional.empty(), other.cluster.leader());
          CompletableFuture<TxnReply> call = other.put("1");
          assertTrue(other.world.runUntil(LONG, call::isDone));
          if (call.isCompletedExceptionally()) {
            kinds.add(other.failure(call));
          } else {
            assertTrue(other.cluster.leader().isPresent());
            served[0]++;
          }
          assertTrue(other.world.runUntil(LONG, () -> other.cluster.leader().isPresent()));
          other.world.runFor(LONG);
          assertEquals(term + 1, other.await(other.etcd.status(SOON)).raftTerm());
        });
    assertEquals(EnumSet.of(Kind.UNKNOWN_OUTCOME, Kind.UNAVAILABLE), kinds);
    assertTrue(served[0] > 0 && served[0] < 25, served[0] + " of 50 were served in time");
  }

  @Test
  void shouldBeginLeasesAgainWithANewLeaderOfEtcd() {
    Lease lease = scene.await(etcd.grant(Duration.ofSeconds(5), SOON));
    scene.await(etcd.txn(write(new Op.Put(KEY, ByteString.EMPTY, lease.id())), SOON));
    world.runFor(Duration.ofMillis(4900));
    faults.hang(cluster.leader().orElseThrow());
    assertTrue(world.runUntil(LONG, () -> cluster.leader().isPresent()));
    world.runFor(Duration.ofMillis(4900));
    assertTrue(cluster.peek(KEY).isPresent());
    world.runFor(Duration.ofMillis(1200));
    assertTrue(cluster.peek(KEY).isEmpty());
    assertEquals(1, cluster.count(Happening.LEASE_EXPIRED));
    assertEquals(1, cluster.count(Happening.ELECTION));
  }

  @Test
  void shouldEndALeaseUpToASecondLateButNotRenewItAnyMore() {
    assertTrue(
        someSeed(seed -> {
          Scene other = new Scene(seed);
          Lease lease = other.await(other.etcd.grant(Duration.ofSeconds(5), SOON));
          other.await(other.etcd.txn(write(new Op.Put(KEY, ByteString.EMPTY, lease.id())), SOON));
          other.world.runFor(Duration.ofMillis(5100));
          boolean there = other.cluster.peek(KEY).isPresent();
          assertEquals(Optional.empty(), other.await(other.etcd.renew(lease.id(), SOON)));
          other.world.runFor(Duration.ofSeconds(1));
          assertTrue(other.cluster.peek(KEY).isEmpty());
          return there;
        }));
  }

  @Test
  void shouldTakeDeletesAndRenewalsOnlyWithoutSpace() {
    Lease lease = scene.await(etcd.grant(Duration.ofSeconds(5), SOON));
    scene.await(scene.put("1"));
    faults.noSpace(true);
    assertEquals(Kind.NO_SPACE, scene.failure(scene.put("2")));
    assertEquals(Kind.NO_SPACE, scene.failure(etcd.grant(Duration.ofSeconds(5), SOON)));
    Txn never =
        new Txn(
            List.of(new Compare.ModRevision(KEY, 0)),
            List.of(new Op.Put(KEY, ByteString.EMPTY, 0)),
            List.of(new Op.Get(KEY)));
    assertEquals(
        Kind.NO_SPACE, scene.failure(etcd.txn(never, SOON)), "a branch that would not run");
    assertTrue(scene.await(etcd.renew(lease.id(), SOON)).isPresent());
    assertTrue(scene.await(etcd.status(SOON)).sizeInUseBytes() > 1 << 30);
    scene.await(etcd.txn(write(new Op.Delete(KEY)), SOON));
    scene.await(etcd.revoke(lease.id(), SOON));
    faults.noSpace(false);
    scene.await(scene.put("3"));
    assertEquals(3, cluster.count(Happening.NO_SPACE));
  }

  @Test
  void shouldJudgeATransactionWithoutOperationsByAnOldState() {
    long first = scene.await(scene.put("1")).revision();
    world.runFor(Duration.ofSeconds(1));
    long second = scene.await(scene.put("2")).revision();
    faults.answerStale(1, Duration.ofSeconds(1));
    List<Compare> old = List.of(new Compare.ModRevision(KEY, first));
    List<Op> get = List.of(new Op.Get(KEY));
    int stale = 0;
    for (int i = 0; i < 20; i++) {
      TxnReply blind = scene.await(etcd.txn(new Txn(old, List.of(), List.of()), SOON));
      assertEquals(blind.succeeded() ? first : second, blind.revision());
      stale += blind.succeeded() ? 1 : 0;
      assertFalse(scene.await(etcd.txn(new Txn(old, get, get), SOON)).succeeded());
      assertFalse(scene.await(etcd.txn(new Txn(old, List.of(), get), SOON)).succeeded());
      assertEquals(second, scene.await(etcd.get(KEY, SOON)).revision());
    }
    assertTrue(stale > 5);
    assertEquals(stale, cluster.count(Happening.STALE_ANSWER));
  }

  @Test
  void shouldCloseTheClientsOfACrashedOwnerAndApplyWhatTheyHadSent() {
    Told told = scene.watch(0);
    world.runFor(SOON);
    CompletableFuture<TxnReply> call = scene.put("1");
    cluster.crash("a");
    assertEquals(Kind.CLOSED, scene.failure(call));
    assertEquals(Kind.CLOSED, scene.failure(scene.put("2")));
    world.runFor(LONG);
    assertEquals(List.of("open"), told.words);
    assertEquals("1", cluster.peek(KEY).orElseThrow().value().toStringUtf8());
    scene.await(cluster.client("a").get(KEY, SOON));
  }

  @Test
  void shouldShowEveryChangeInTheOrderOfRevisions() {
    List<Commit> commits = new ArrayList<>();
    cluster.observe(commits::add);
    Lease lease = scene.await(etcd.grant(Duration.ofSeconds(5), SOON));
    scene.await(etcd.txn(write(new Op.Put(KEY, ByteString.EMPTY, lease.id())), SOON));
    scene.await(etcd.txn(write(new Op.Delete(FROM)), SOON));
    scene.await(scene.put("1"));
    scene.await(etcd.txn(write(new Op.Put(KEY, ByteString.EMPTY, lease.id())), SOON));
    assertEquals(1, cluster.peekRange(FROM, TO).size());
    world.runFor(LONG);
    assertEquals(List.of(2L, 3L, 4L, 5L), commits.stream().map(Commit::revision).toList());
    assertEquals(List.of(KEY), commits.getLast().deletes());
    assertEquals(2, commits.get(1).puts().getFirst().createRevision());
    assertEquals(List.of(), cluster.peekRange(FROM, TO));
  }

  @Test
  void shouldGoTheSameWayWithTheSameSeed() {
    List<Object> first = storm(5);
    assertEquals(first, storm(5));
    assertNotEquals(first, storm(6));
  }

  @Test
  void shouldMeetEveryUnkindnessInAStorm() {
    Set<Happening> met = EnumSet.noneOf(Happening.class);
    for (long seed = 0; seed < 20; seed++) {
      met.addAll(new Storm(seed).run().counts().keySet());
    }
    assertEquals(EnumSet.allOf(Happening.class), met);
  }

  private static List<Object> storm(long seed) {
    List<Object> trace = new ArrayList<>();
    Storm storm = new Storm(seed);
    storm.cluster().observe(trace::add);
    trace.add(storm.run().counts());
    trace.add(storm.world().fingerprint());
    return trace;
  }

  private static boolean someSeed(LongPredicate happens) {
    return LongStream.range(0, 50).anyMatch(happens);
  }

  private static boolean unknown(Kind kind) {
    return kind == Kind.UNKNOWN_OUTCOME || kind == Kind.UNAVAILABLE;
  }
}
