package dev.baton.coordination.jetcd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.EtcdContract;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.server.EtcdCluster;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on three real members, and what only a real cluster can do to its client. */
class JetcdEtcdTest extends EtcdContract {
  private static final Duration SHORT = Duration.ofMillis(500);

  @TempDir private static Path directory;
  private static EtcdCluster cluster;
  private static Etcd etcd;

  @BeforeAll
  static void start() {
    cluster = EtcdCluster.start(directory, 3);
    etcd = JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), "test");
  }

  @AfterAll
  static void stop() {
    etcd.close();
    cluster.close();
  }

  @AfterEach
  void heal() {
    for (int i = 0; i < cluster.size(); i++) {
      if (cluster.member(i).isRunning()) {
        cluster.member(i).resume();
      } else {
        cluster.start(i);
      }
    }
    cluster.awaitHealthy(Duration.ofSeconds(20));
  }

  @Override
  protected Etcd etcd() {
    return etcd;
  }

  @Override
  protected <T> T await(CompletableFuture<T> call) {
    return call.orTimeout(10, TimeUnit.SECONDS).join();
  }

  @Override
  protected void awaitUntil(String what, Duration bound, BooleanSupplier condition) {
    Awaitility.await(what)
        .atMost(bound)
        .pollInterval(Duration.ofMillis(10))
        .until(condition::getAsBoolean);
  }

  @Test
  void shouldTurnToAnotherMemberAfterOneThatIsStopped() {
    try (Etcd client = client()) {
      await(client.get(key("a"), DEADLINE));
      cluster.member(0).pause();
      long start = System.nanoTime();
      assertEquals(Kind.UNKNOWN_OUTCOME, failure(client.get(key("a"), SHORT)));
      assertTrue(System.nanoTime() - start < Duration.ofMillis(1500).toNanos());
      awaitUntil("an answer of the others", DEADLINE, () -> answers(client));
      assertTrue(answers(client), "it stays with the member that answered");
    }
  }

  @Test
  void shouldEndTheWatchOnAStoppedMemberOnce() {
    try (Etcd client = client()) {
      await(client.get(key("a"), DEADLINE));
      Seen seen = new Seen();
      Etcd.Watch watch = client.watch(folder(0, false), seen);
      awaitUntil("the watch", DEADLINE, () -> seen.opened);
      cluster.member(0).pause();
      awaitUntil("its end", Duration.ofSeconds(6), () -> !seen.failures.isEmpty());
      assertEquals(List.of(Kind.UNAVAILABLE), seen.failures);
      int signs = seen.signsOfLife;
      cluster.member(0).resume();
      awaitUntil("an answer of the others", DEADLINE, () -> answers(client));
      put("w/1", "x");
      Seen again = new Seen();
      client.watch(folder(0, false), again);
      awaitUntil("a new watch", DEADLINE, () -> again.signsOfLife >= 2);
      assertEquals(1, seen.failures.size());
      assertEquals(signs, seen.signsOfLife);
      assertEquals(0, seen.events.size());
      watch.close();
    }
  }

  @Test
  void shouldEndTheWatchOnAKilledMemberOnce() {
    try (Etcd client = client()) {
      await(client.get(key("a"), DEADLINE));
      Seen seen = new Seen();
      client.watch(folder(0, false), seen);
      awaitUntil("the watch", DEADLINE, () -> seen.opened);
      cluster.kill(0);
      awaitUntil("its end", DEADLINE, () -> !seen.failures.isEmpty());
      awaitUntil("an answer of the others", DEADLINE, () -> answers(client));
      assertEquals(1, seen.failures.size());
    }
  }

  @Test
  void shouldFailWithoutAQuorumAndComeBack() {
    try (Etcd client = client()) {
      await(client.get(key("a"), DEADLINE));
      cluster.member(1).pause();
      cluster.member(2).pause();
      assertTrue(
          List.of(Kind.UNKNOWN_OUTCOME, Kind.UNAVAILABLE)
              .contains(failure(client.get(key("a"), SHORT))));
      cluster.member(1).resume();
      cluster.member(2).resume();
      awaitUntil("a leader", Duration.ofSeconds(15), () -> answers(client));
    }
  }

  @Test
  void shouldFailAtOnceAndCostNothingWhenAllMembersAreDown() {
    try (Etcd client = client()) {
      await(client.get(key("a"), DEADLINE));
      Seen seen = new Seen();
      client.watch(folder(0, false), seen);
      for (int i = 0; i < 3; i++) {
        cluster.kill(i);
      }
      AtomicInteger failures = new AtomicInteger();
      long before = cpuNanos();
      long start = System.nanoTime();
      Awaitility.await()
          .pollInterval(Duration.ofMillis(200))
          .atMost(Duration.ofSeconds(10))
          .until(() -> {
            Kind kind = failure(client.get(key("a"), SHORT));
            assertTrue(kind == Kind.UNAVAILABLE || kind == Kind.UNKNOWN_OUTCOME, kind.name());
            failures.incrementAndGet();
            return System.nanoTime() - start > Duration.ofSeconds(3).toNanos();
          });
      long cpu = cpuNanos() - before;
      assertTrue(failures.get() >= 5, failures + " calls failed in 3 s");
      assertTrue(cpu < Duration.ofSeconds(1).toNanos(), cpu / 1_000_000 + " ms of CPU in 3 s");
      assertEquals(1, seen.failures.size());
      for (int i = 0; i < 3; i++) {
        cluster.start(i);
      }
      awaitUntil("the cluster", Duration.ofSeconds(20), () -> answers(client));
    }
  }

  @Test
  void shouldFailEveryCallAfterItsEnd() {
    Etcd client = client();
    Seen seen = new Seen();
    client.watch(folder(0, false), seen);
    cluster.member(0).pause();
    CompletableFuture<?> pending = client.get(key("a"), Duration.ofSeconds(30));
    client.close();
    client.close();
    assertEquals(Kind.CLOSED, failure(pending));
    assertEquals(Kind.CLOSED, failure(client.get(key("a"), DEADLINE)));
    assertEquals(0, seen.failures.size());
  }

  @Test
  void shouldReadAndWatchMoreThanFourMebibytes() {
    long revision = 0;
    for (int i = 0; i < 8; i++) {
      revision =
          await(
                  etcd.txn(
                      new Txn(
                          List.of(),
                          List.of(
                              new Op.Put(key("w/" + i), ByteString.copyFrom(new byte[1 << 20]), 0)),
                          List.of()),
                      DEADLINE))
              .revision();
    }
    Etcd.ListReply all =
        await(etcd.list(new Etcd.ListRequest(key("w/"), key("w0"), 0, 0, false), DEADLINE));
    assertEquals(8, all.keyValues().size());
    Seen seen = watch(revision - 7, false);
    awaitUntil("all of it", DEADLINE, () -> seen.events.size() == 8);
  }

  private static Etcd client() {
    return JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), "own");
  }

  private boolean answers(Etcd client) {
    return client
        .get(key("a"), SHORT)
        .handle((answer, failure) -> failure == null)
        .orTimeout(5, TimeUnit.SECONDS)
        .join();
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
