package dev.baton.coordination.testing;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Listing;
import dev.baton.coordination.ThreadStrand;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.coordination.server.EtcdCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Tests on a real etcd that their class starts once; each test has keys of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class RealEtcd {
  /** Longer than anything takes that works, on a machine that is busy with other things. */
  public static final Duration SOON = Duration.ofSeconds(20);

  protected final ThreadStrand strand = new ThreadStrand("test");
  protected EtcdCluster cluster;
  protected Etcd etcd;
  protected Keys keys;
  private final int members;
  private final String[] flags;

  protected RealEtcd(int members, String... flags) {
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
    cluster.awaitHealthy(SOON);
  }

  /** A client of its own. */
  protected JetcdEtcd client(String name) {
    return JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), name);
  }

  /** Stops all members: they keep their connections and answer nothing. */
  protected void freeze() {
    for (int i = 0; i < cluster.size(); i++) {
      cluster.member(i).pause();
    }
  }

  protected void thaw() {
    for (int i = 0; i < cluster.size(); i++) {
      cluster.member(i).resume();
    }
  }

  public static <T> T await(CompletableFuture<T> call) {
    return call.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
  }

  public static void awaitUntil(String what, BooleanSupplier condition) {
    awaitUntil(what, SOON, condition);
  }

  public static void awaitUntil(String what, Duration bound, BooleanSupplier condition) {
    Awaitility.await(what)
        .atMost(bound)
        .pollInterval(Duration.ofMillis(5))
        .until(condition::getAsBoolean);
  }

  /** The condition must hold all the time. */
  public static void awaitAlways(String what, Duration time, BooleanSupplier condition) {
    Awaitility.await(what)
        .during(time)
        .atMost(time.plus(SOON))
        .pollInterval(Duration.ofMillis(20))
        .until(condition::getAsBoolean);
  }

  /** Runs on a strand, and waits for what it gives. */
  protected <T> T onStrand(Supplier<T> task) {
    return await(CompletableFuture.supplyAsync(task, strand));
  }

  protected void onStrand(Runnable task) {
    await(CompletableFuture.runAsync(task, strand));
  }

  protected long write(List<Op> ops) {
    return await(etcd.txn(new Txn(List.of(), ops, List.of()), SOON)).revision();
  }

  protected long put(ByteString key, ByteString value) {
    return write(List.of(new Op.Put(key, value, 0)));
  }

  protected long put(ByteString key, String value) {
    return put(key, text(value));
  }

  protected long delete(ByteString key) {
    return write(List.of(new Op.Delete(key)));
  }

  protected Etcd.GetReply read(ByteString key) {
    return await(etcd.get(key, SOON));
  }

  /** A key that is there. */
  protected Etcd.KeyValue get(ByteString key) {
    return Objects.requireNonNull(read(key).keyValue(), () -> key.toStringUtf8() + " is absent");
  }

  protected boolean exists(ByteString key) {
    return read(key).keyValue() != null;
  }

  /** The store's revision. */
  protected long revision() {
    return read(keys.head()).revision();
  }

  /** Everything that starts with a prefix. */
  protected List<Etcd.KeyValue> list(ByteString prefix) {
    return await(Listing.read(etcd, strand, prefix, SOON)).keyValues();
  }

  protected void compactNow() {
    await(etcd.compact(revision(), SOON));
  }

  public static ByteString text(String value) {
    return ByteString.copyFromUtf8(value);
  }
}
