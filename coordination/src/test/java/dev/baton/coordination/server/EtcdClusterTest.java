package dev.baton.coordination.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Txn;
import dev.baton.coordination.jetcd.JetcdEtcd;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members as processes. */
class EtcdClusterTest {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  @TempDir private Path directory;

  @Test
  void shouldStopStartAndGoOnWithItsData() {
    ByteString key = ByteString.copyFromUtf8("k");
    List<String> endpoints;
    long pid;
    try (EtcdCluster cluster = EtcdCluster.start(directory, 1)) {
      endpoints = cluster.endpoints();
      try (Etcd etcd = client(cluster)) {
        await(
            etcd.txn(
                new Txn(List.of(), List.of(new Txn.Op.Put(key, key, 0)), List.of()), DEADLINE));
      }
      pid = cluster.pid(0);
      cluster.stop(0);
      assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
      cluster.start(0);
      cluster.awaitHealthy(Duration.ofSeconds(20));
      assertNotEquals(pid, cluster.pid(0));
      pid = cluster.pid(0);
      cluster.member(0).pause();
    }
    assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
    try (EtcdCluster again = EtcdCluster.start(directory, 1);
        Etcd etcd = client(again)) {
      assertEquals(endpoints, again.endpoints());
      Etcd.KeyValue found = await(etcd.get(key, DEADLINE)).keyValue();
      assertEquals(key, found == null ? null : found.value());
    }
    assertThrows(IllegalStateException.class, () -> EtcdCluster.start(directory, 3));
  }

  @Test
  void shouldListenWhereAMemberIsPlaced() {
    List<String> command =
        EtcdCluster.command(
            Path.of("etcd"),
            Path.of("data"),
            List.of(
                new EtcdCluster.Seat("10.1.2.11", 2379, 2380),
                new EtcdCluster.Seat("10.1.2.12", 2379, 2380)),
            1,
            List.of("--quota-backend-bytes", "1"));
    String line = String.join(" ", command);
    assertTrue(line.startsWith("etcd --name etcd-1 --data-dir data/etcd-1 "), line);
    assertTrue(line.contains(" --listen-client-urls http://10.1.2.12:2379 "), line);
    assertTrue(line.contains(" --initial-advertise-peer-urls http://10.1.2.12:2380 "), line);
    assertTrue(line.contains(" etcd-0=http://10.1.2.11:2380,etcd-1=http://10.1.2.12:2380 "), line);
    assertTrue(line.endsWith(" --quota-backend-bytes 1"), line);
  }

  @Test
  void shouldShowTheLogOfAMemberThatDoesNotStart() {
    RuntimeException failure =
        assertThrows(
            IllegalStateException.class,
            () -> EtcdCluster.start(directory, 1, "--auth-token", "nonsense"));
    assertTrue(String.valueOf(failure.getMessage()).contains("nonsense"), failure.toString());
  }

  @Test
  void shouldSayThatThereIsNoSuchProgram() {
    RuntimeException failure =
        assertThrows(
            RuntimeException.class,
            () ->
                EtcdCluster.start(
                    new EtcdCluster.Options(
                        directory, 1, directory.resolve("etcd"), List.of(), DEADLINE)));
    assertTrue(String.valueOf(failure.getMessage()).contains("could not be started"));
  }

  private static Etcd client(EtcdCluster cluster) {
    return JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), "test");
  }

  private static <T> T await(CompletableFuture<T> call) {
    return call.orTimeout(10, TimeUnit.SECONDS).join();
  }
}
