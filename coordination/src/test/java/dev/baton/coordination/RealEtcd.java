package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.coordination.server.EtcdCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Tests on a real cluster that their class starts once; each test has keys of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RealEtcd {
  static final Duration SOON = Duration.ofSeconds(10);

  final ThreadStrand strand = new ThreadStrand("test");
  final int members;
  final String[] flags;
  EtcdCluster cluster;
  Etcd etcd;
  Keys keys;

  RealEtcd(int members, String... flags) {
    this.members = members;
    this.flags = flags;
  }

  @BeforeAll
  void startCluster(@TempDir Path directory) {
    cluster = EtcdCluster.start(directory, members, flags);
    etcd = client("test");
  }

  @AfterAll
  void stopCluster() {
    strand.close();
    etcd.close();
    cluster.close();
  }

  @BeforeEach
  void ownKeys() {
    keys = new Keys("t" + UUID.randomUUID().toString().substring(0, 8));
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

  JetcdEtcd client(String name) {
    return JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), name);
  }

  static <T> T await(CompletableFuture<T> call) {
    return call.orTimeout(10, TimeUnit.SECONDS).join();
  }

  static void awaitUntil(String what, Duration bound, BooleanSupplier condition) {
    Awaitility.await(what)
        .atMost(bound)
        .pollInterval(Duration.ofMillis(5))
        .until(condition::getAsBoolean);
  }

  /** The condition must hold all the time. */
  static void awaitAlways(String what, Duration time, BooleanSupplier condition) {
    Awaitility.await(what)
        .during(time)
        .atMost(time.plusSeconds(5))
        .pollInterval(Duration.ofMillis(20))
        .until(condition::getAsBoolean);
  }

  /** Runs on the strand and waits for it. */
  void onStrand(Runnable task) {
    await(CompletableFuture.runAsync(task, strand));
  }

  long put(ByteString key, String value) {
    return await(
            etcd.txn(new Txn(List.of(), List.of(new Op.Put(key, text(value), 0)), List.of()), SOON))
        .revision();
  }

  long delete(ByteString key) {
    return await(etcd.txn(new Txn(List.of(), List.of(new Op.Delete(key)), List.of()), SOON))
        .revision();
  }

  Etcd.GetReply get(ByteString key) {
    return await(etcd.get(key, SOON));
  }

  static ByteString text(String value) {
    return ByteString.copyFromUtf8(value);
  }
}
