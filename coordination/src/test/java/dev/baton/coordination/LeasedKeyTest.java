package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Presence under a lease, on one real member. */
class LeasedKeyTest extends RealEtcd {
  private static final Duration TTL = Duration.ofSeconds(2);

  LeasedKeyTest() {
    super(1);
  }

  @Test
  void shouldKeepTheKeyPastItsTtlAndRewriteItUnderTheSameLease() {
    Holder a = new Holder("a", etcd);
    awaitUntil("the key", SOON, () -> a.held.size() == 1);
    awaitAlways("it stays", TTL.plusSeconds(1), () -> a.lost.isEmpty());
    assertEquals(a.leases.getFirst(), a.key.confirmedLease());
    Etcd.KeyValue before = read(keys.node("n")).keyValue();
    assertNotNull(before);
    a.key.update(text("a2"));
    a.key.update(text("a3"));
    awaitUntil("the value", SOON, () -> "a3".equals(a.value()));
    Etcd.KeyValue after = read(keys.node("n")).keyValue();
    assertNotNull(after);
    assertEquals(before.leaseId(), after.leaseId());
    assertEquals(before.createRevision(), after.createRevision());
    assertEquals(a.held, List.of(after.createRevision()));
    assertEquals(1, a.key.leases());
    await(a.key.close());
    assertNull(read(keys.node("n")).keyValue());
    assertEquals(0, a.key.leases());
    assertEquals(0, a.key.confirmedLease());
    assertEquals(Optional.empty(), await(etcd.renew(after.leaseId(), SOON)));
  }

  @Test
  void shouldWaitForTheHolderAndTakeOverWhenItIsGone() {
    Holder a = new Holder("a", etcd);
    awaitUntil("the key", SOON, () -> a.held.size() == 1);
    Holder b = new Holder("b", etcd);
    awaitUntil("the holder", SOON, () -> b.taken.equals(List.of("a")));
    awaitAlways("it waits", Duration.ofMillis(1200), () -> b.held.isEmpty());
    assertEquals(1, b.taken.size(), "told once");
    assertEquals(0, b.key.leases(), "no lease while it waits");
    await(a.key.close());
    awaitUntil("the key", SOON, () -> b.held.size() == 1);
    await(b.key.close());
  }

  @Test
  void shouldComeBackUnderAFreshLeaseWhenTheOldIsGone() {
    Holder a = new Holder("a", etcd);
    awaitUntil("the key", SOON, () -> a.held.size() == 1);
    await(etcd.revoke(a.leases.getFirst(), SOON));
    awaitUntil("it again", SOON, () -> a.held.size() == 2);
    assertEquals(1, a.lost.size());
    assertNotEquals(a.leases.get(0), a.leases.get(1));
    delete(keys.node("n"));
    awaitUntil("it again", SOON, () -> a.held.size() == 3);
    assertEquals(2, a.lost.size());
    assertEquals(Optional.empty(), await(etcd.renew(a.leases.get(1), SOON)), "none leaks");
    assertEquals(1, a.key.leases());
    await(a.key.close());
  }

  /** As after a stop of the process: nobody may go on before the strand has noticed. */
  @Test
  void shouldRelyOnNoLeaseThatMayHaveEndedWhileItsStrandStoodStill() {
    Holder a = new Holder("a", etcd);
    awaitUntil("the key", SOON, () -> a.held.size() == 1);
    CountDownLatch still = new CountDownLatch(1);
    strand.execute(() -> {
      try {
        still.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    awaitUntil("doubt", TTL.plusSeconds(2), () -> a.key.confirmedLease() == 0);
    assertEquals(List.of(), a.lost, "it has not noticed");
    still.countDown();
    awaitUntil("trust", SOON, () -> a.key.confirmedLease() != 0);
    assertEquals(a.leases.getLast(), a.key.confirmedLease());
    await(a.key.close());
  }

  @Test
  void shouldRecogniseItsOwnKeyWhenTheAnswerWasLost() {
    UnkindEtcd network = new UnkindEtcd(etcd);
    network.answersToLose.set(1);
    Holder a = new Holder("a", network);
    awaitUntil("the key", SOON, () -> a.held.size() == 1);
    assertEquals(List.of(), a.taken);
    network.answersToLose.set(1);
    a.key.update(text("a2"));
    awaitUntil("the value", SOON, () -> "a2".equals(a.value()));
    a.key.update(text("a3"));
    awaitUntil("the value", SOON, () -> "a3".equals(a.value()));
    assertEquals(1, a.held.size());
    await(a.key.close());
  }

  @Test
  void shouldSurviveAnOutageAndIdleMeanwhile() {
    Holder a = new Holder("a", etcd);
    awaitUntil("the key", SOON, () -> a.held.size() == 1);
    cluster.kill(0);
    awaitUntil("the loss", SOON, () -> a.lost.size() == 1);
    long before = cpuNanos();
    awaitAlways("it is away", Duration.ofSeconds(2), () -> a.held.size() == 1);
    long cpu = cpuNanos() - before;
    assertTrue(cpu < Duration.ofMillis(800).toNanos(), cpu / 1_000_000 + " ms of CPU in 2 s");
    cluster.start(0);
    awaitUntil("it again", Duration.ofSeconds(20), () -> a.held.size() == 2);
    assertEquals(List.of(), a.taken);
    assertEquals(1, a.key.leases());
    await(a.key.close());
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  /** One who wants {@code nodes/n}. */
  private final class Holder implements LeasedKey.Listener {
    final List<Long> held = new CopyOnWriteArrayList<>();
    final List<Long> leases = new CopyOnWriteArrayList<>();
    final List<String> taken = new CopyOnWriteArrayList<>();
    final List<String> lost = new CopyOnWriteArrayList<>();
    final LeasedKey key;

    Holder(String value, Etcd client) {
      key =
          new LeasedKey(
              client, strand, RandomGenerator.getDefault(), keys.node("n"), text(value), TTL, this);
      key.start();
    }

    String value() {
      Etcd.KeyValue found = read(keys.node("n")).keyValue();
      return found == null ? "" : found.value().toStringUtf8();
    }

    @Override
    public void onHeld(long createRevision, long leaseId) {
      held.add(createRevision);
      leases.add(leaseId);
    }

    @Override
    public void onTaken(Etcd.KeyValue holder) {
      taken.add(holder.value().toStringUtf8());
    }

    @Override
    public void onLost(String reason) {
      lost.add(reason);
    }
  }
}
