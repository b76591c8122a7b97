package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.Leadership.Deposition;
import dev.baton.coordination.Strand.Timer;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import dev.baton.proto.v1.LeaderRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The election on three real members. */
class LeadershipTest extends RealEtcd {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final long NO_SUCH_HEAD = Long.MAX_VALUE;

  private final List<Candidate> candidates = new ArrayList<>();

  LeadershipTest() {
    super(3);
  }

  @AfterEach
  void closeCandidates() {
    candidates.forEach(Candidate::close);
    candidates.clear();
  }

  @Test
  void shouldElectOneOfTwo() {
    Candidate a = new Candidate("a");
    Candidate b = new Candidate("b");
    awaitUntil("a leader", SOON, () -> a.leads() || b.leads());
    Candidate leader = a.leads() ? a : b;
    Candidate standby = a.leads() ? b : a;
    awaitUntil("the standby to see it", SOON, () -> leader.id.equals(standby.sees));
    assertEquals(leader.term, standby.seenTerm);
    awaitAlways("one leads", TTL.plusMillis(500), () -> leader.leads() && !standby.leads());
    assertTrue(leader.leadership.deadlineNanos() - System.nanoTime() > 0);
    assertTrue(standby.leadership.deadlineNanos() - System.nanoTime() <= 0);
    assertEquals(1, leader.leadership.leases());
    awaitUntil("a lease ahead", SOON, () -> standby.leadership.leases() == 1);
  }

  @Test
  void shouldSayWhereTheJournalStandsWhenItWins() {
    Candidate first = leader();
    assertEquals(0, first.head);
    long head = put(keys.head(), "1");
    Candidate second = standby("b", first);
    await(first.leadership.resign());
    awaitUntil("b leads", SOON, second::leads);
    assertEquals(head, second.head);
    Candidate third = standby("c", second);
    long moved = put(keys.head(), "2");
    assertTrue(await(third.leadership.depose(second.term, moved)).won());
    assertEquals(moved, third.head);
  }

  @Test
  void shouldHandOverFastWhenTheLeaderResigns() {
    Candidate a = new Candidate("a");
    awaitUntil("a leads", SOON, a::leads);
    Candidate b = new Candidate("b");
    awaitUntil("b sees it", SOON, () -> "a".equals(b.sees) && b.leadership.leases() == 1);
    long term = a.term;
    await(a.leadership.resign());
    awaitUntil("b leads", Duration.ofSeconds(5), b::leads);
    assertTrue(b.term > term);
    assertTrue(a.lostNanos - b.wonNanos < 0);
    assertEquals(0, a.leadership.leases());
    awaitAlways("a is not eligible", Duration.ofMillis(500), () -> !a.leads());
    a.leadership.eligible(true);
    await(b.leadership.resign());
    awaitUntil("a leads", Duration.ofSeconds(5), a::leads);
  }

  @Test
  void shouldKnowThatItsLeaseIsLostBeforeAnotherLeads() {
    Candidate a = new Candidate("a");
    awaitUntil("a leads", SOON, a::leads);
    Candidate b = new Candidate("b");
    awaitUntil("b sees it", SOON, () -> "a".equals(b.sees));
    a.network.cut = true;
    awaitUntil("b leads", SOON, b::leads);
    assertTrue(a.lostNanos != 0, "a knew");
    assertTrue(a.lostNanos - b.wonNanos < 0, "and knew it first");
    assertTrue(a.leadership.deadlineNanos() - b.wonNanos < 0);
    a.network.cut = false;
    awaitUntil("a follows", SOON, () -> "b".equals(a.sees));
    assertTrue(b.leads());
  }

  @Test
  void shouldStepDownWhenItsLeaseIsRevoked() {
    Candidate a = new Candidate("a");
    awaitUntil("a leads", SOON, a::leads);
    long lease = leaderLease();
    long term = a.term;
    await(etcd.revoke(lease, SOON));
    awaitUntil("a has lost it", SOON, () -> a.lost == 1);
    awaitUntil("a leads again", SOON, a::leads);
    assertTrue(a.term > term);
    assertTrue(leaderLease() != lease);
  }

  @Test
  void shouldStepDownWhenAnotherHasStolenTheKey() {
    Candidate a = new Candidate("a");
    awaitUntil("a leads", SOON, a::leads);
    put(keys.leader(), "thief");
    awaitUntil("a has lost it", SOON, () -> a.lost == 1);
    awaitAlways("it does not win", Duration.ofMillis(500), () -> a.won == 1);
    delete(keys.leader());
    awaitUntil("a leads again", SOON, a::leads);
  }

  @Test
  void shouldResignWhenTheLoopIsDead() {
    Candidate a = new Candidate("a");
    awaitUntil("a leads", SOON, a::leads);
    a.ticks = false;
    a.leadership.eligible(false);
    awaitUntil("a has resigned", SOON, () -> a.lost == 1);
    awaitUntil("the key is gone", SOON, () -> read(keys.leader()).keyValue() == null);
  }

  @Test
  void shouldWinByTheKeyWhenTheAnswerIsLost() {
    Candidate a = new Candidate("a", network -> network.answersToLose.set(1));
    awaitUntil("a leads", SOON, a::leads);
    Etcd.KeyValue key = read(keys.leader()).keyValue();
    assertEquals(a.term, key == null ? 0 : key.modRevision());
    assertEquals(1, a.network.sent.size());
    assertEquals(Leadership.UNKNOWN_HEAD, a.head);
  }

  @Test
  void shouldNotCampaignUntilItIsEligible() {
    Candidate a = new Candidate("a", network -> {});
    a.leadership.eligible(false);
    await(a.leadership.resign());
    long before = a.won;
    awaitAlways("nobody leads", Duration.ofSeconds(1), () -> a.won == before && a.seenTerm == 0);
    assertNull(a.sees);
    assertEquals(0, a.leadership.leases());
    a.leadership.eligible(true);
    awaitUntil("a leads", SOON, a::leads);
  }

  @Test
  void shouldRevokeACampaignOfItsOwnThatNobodyStandsBehind() {
    Candidate a = new Candidate("a");
    awaitUntil("a leads", SOON, a::leads);
    await(a.leadership.resign());
    Etcd.Lease lease = await(etcd.grant(Duration.ofSeconds(60), SOON));
    await(
        etcd.txn(
            new Txn(
                List.of(),
                List.of(new Txn.Op.Put(keys.leader(), a.record().toByteString(), lease.id())),
                List.of()),
            SOON));
    awaitUntil("the key is gone", SOON, () -> read(keys.leader()).keyValue() == null);
    assertEquals(Optional.empty(), await(etcd.renew(lease.id(), SOON)));
  }

  private Candidate leader() {
    Candidate leader = new Candidate("a");
    awaitUntil("a leads", SOON, leader::leads);
    return leader;
  }

  /**
   * One that could take the leader's place at once: it has tried, under a condition that is false.
   */
  private Candidate standby(String id, Candidate leader) {
    Candidate standby = new Candidate(id);
    awaitUntil(
        id + " is ready",
        SOON,
        () -> {
          int asked = standby.network.sent.size();
          Deposition refused = await(standby.leadership.depose(leader.term, NO_SUCH_HEAD));
          return !refused.won() && standby.network.sent.size() > asked;
        });
    return standby;
  }

  @Test
  void shouldDeposeALeaderWhoseHeadHasNotMoved() {
    long head = put(keys.head(), "1");
    Candidate a = leader();
    Candidate b = standby("b", a);
    long lease = leaderLease();
    Deposition outcome = await(b.leadership.depose(a.term, head));
    assertEquals(new Deposition(true, 0), outcome);
    assertTrue(b.leads());
    assertTrue(b.term > a.term);
    awaitUntil("a has seen it", SOON, () -> a.lost == 1);
    awaitUntil("a's lease is gone", SOON, () -> await(etcd.renew(lease, SOON)).isEmpty());
    awaitAlways("b leads past its TTL", TTL.plusSeconds(1), () -> b.leads() && b.won == 1);
    assertEquals(b.term, leaderRevision());
  }

  @Test
  void shouldNotDeposeALeaderThatHasWritten() {
    long head = put(keys.head(), "1");
    Candidate a = leader();
    Candidate b = standby("b", a);
    long moved = put(keys.head(), "2");
    assertEquals(new Deposition(false, moved), await(b.leadership.depose(a.term, head)));
    assertEquals(new Deposition(false, 0), await(b.leadership.depose(a.term - 1, moved)));
    assertTrue(a.leads());
    assertEquals(a.term, leaderRevision());
    assertTrue(await(b.leadership.depose(a.term, moved)).won(), "the lease is still there");
  }

  @Test
  void shouldLetOneOfTwoDepose() {
    long head = put(keys.head(), "1");
    Candidate a = leader();
    Candidate b = standby("b", a);
    Candidate c = standby("c", a);
    CompletableFuture<Deposition> one = b.leadership.depose(a.term, head);
    CompletableFuture<Deposition> other = c.leadership.depose(a.term, head);
    assertTrue(await(one).won() ^ await(other).won());
    awaitUntil("all agree", SOON, () -> b.seenTerm == c.seenTerm && a.lost == 1);
    assertTrue(b.leads() ^ c.leads());
  }

  @Test
  void shouldWinByTheKeyWhenTheAnswerToADepositionIsLost() {
    long head = put(keys.head(), "1");
    Candidate a = leader();
    Candidate b = standby("b", a);
    b.network.answersToLose.set(1);
    assertEquals(new Deposition(false, 0), await(b.leadership.depose(a.term, head)));
    awaitUntil("b leads", SOON, b::leads);
    assertEquals(b.term, leaderRevision());
    awaitAlways("b leads past its TTL", TTL.plusSeconds(1), () -> b.leads() && b.won == 1);
  }

  private long leaderRevision() {
    Etcd.KeyValue key = read(keys.leader()).keyValue();
    return key == null ? 0 : key.modRevision();
  }

  private long leaderLease() {
    Etcd.KeyValue key = read(keys.leader()).keyValue();
    return key == null ? 0 : key.leaseId();
  }

  /** A node's part in the election, with a loop that ticks. */
  private final class Candidate implements Leadership.Listener {
    final String id;
    final UnkindEtcd network = new UnkindEtcd(client("lead"));
    final ThreadStrand own;
    final Leadership leadership;
    volatile @Nullable String sees;
    volatile long seenTerm;
    volatile long head;
    volatile long term;
    volatile int won;
    volatile int lost;
    volatile long wonNanos;
    volatile long lostNanos;
    volatile boolean ticks = true;
    private @Nullable Timer ticking;

    Candidate(String id) {
      this(id, network -> {});
    }

    Candidate(String id, Consumer<UnkindEtcd> before) {
      this.id = id;
      this.own = new ThreadStrand("leadership-" + id);
      this.leadership =
          new Leadership(network, own, RandomGenerator.getDefault(), keys, record(), TTL, this);
      candidates.add(this);
      before.accept(network);
      strand.execute(this::tick);
      leadership.start();
      leadership.eligible(true);
    }

    LeaderRecord record() {
      return LeaderRecord.newBuilder().setNodeId(id).setIncarnation("1").build();
    }

    boolean leads() {
      return won > lost;
    }

    void close() {
      ticks = false;
      network.cut = false;
      await(leadership.close());
      onStrand(() -> {
        if (ticking != null) {
          ticking.cancel();
        }
      });
      own.close();
      network.close();
    }

    private void tick() {
      if (ticks) {
        leadership.tick();
      }
      ticking = strand.schedule(Duration.ofMillis(200), this::tick);
    }

    @Override
    public void onLeader(@Nullable LeaderRecord leader, long leaderTerm) {
      sees = leader == null ? null : leader.getNodeId();
      seenTerm = leaderTerm;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void onWon(long newTerm, long headRevision) {
      assertEquals(newTerm, seenTerm);
      term = newTerm;
      head = headRevision;
      wonNanos = System.nanoTime();
      won++;
      leadership.tookOver();
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void onLost(String reason) {
      lostNanos = System.nanoTime();
      lost++;
    }
  }
}
