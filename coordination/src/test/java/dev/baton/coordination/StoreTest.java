package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import dev.baton.proto.v1.ClusterRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What is about the store as a whole, on one real member. */
class StoreTest extends RealEtcd {
  StoreTest() {
    super(1);
  }

  @Test
  void shouldCompactToWhatWasAMinuteAgoAndKeepMoreWhileSomebodyLoads() {
    ManualStrand time = new ManualStrand();
    List<Long> compacted = new ArrayList<>();
    List<Kind> failures = new ArrayList<>();
    AtomicBoolean loading = new AtomicBoolean();
    UnkindEtcd network = new UnkindEtcd(etcd);
    Compactor compactor =
        new Compactor(
            network,
            time,
            loading::get,
            new Compactor.Listener() {
              @Override
              public void onCompacted(long revision) {
                compacted.add(revision);
              }

              @Override
              public void onFailure(EtcdException failure) {
                failures.add(failure.kind());
              }
            });
    long first = put(keys.head(), "1");
    List<Long> revisions = new ArrayList<>();
    network.synchronous = true;
    compactor.start();
    for (int i = 1; i <= 4; i++) {
      time.advance(Duration.ofSeconds(30));
      revisions.add(put(keys.head(), "n" + i));
    }
    assertEquals(List.of(first, revisions.get(0)), compacted, "as of a minute before");
    loading.set(true);
    time.advance(Duration.ofMinutes(2));
    assertEquals(2, compacted.size(), "somebody loads");
    loading.set(false);
    time.advance(Duration.ofSeconds(30));
    assertEquals(List.of(first, revisions.get(0), revisions.get(3)), compacted);
    assertEquals(List.of(), failures);
    compactor.close();
    time.advance(Duration.ofMinutes(5));
    assertEquals(3, compacted.size());
    assertEquals(
        Kind.COMPACTED,
        assertInstanceOf(
                EtcdException.class,
                assertThrows(
                        CompletionException.class,
                        () ->
                            await(
                                etcd.list(
                                    new Etcd.ListRequest(
                                        keys.head(), Keys.after(keys.head()), 0, first - 1, false),
                                    SOON)))
                    .getCause())
            .kind());
  }

  @Test
  void shouldSayThatTheStoreIsFullAtFourFifthsOfItsQuota() {
    long inUse = await(etcd.status(SOON)).sizeInUseBytes();
    StoreSize roomy = new StoreSize(etcd, strand, inUse * 3);
    StoreSize narrow = new StoreSize(etcd, strand, inUse);
    roomy.start();
    narrow.start();
    awaitUntil("sizes", SOON, () -> roomy.inUseBytes() > 0 && narrow.inUseBytes() > 0);
    assertFalse(roomy.isFull());
    assertTrue(narrow.isFull());
    roomy.close();
    narrow.close();
  }

  @Test
  void shouldGiveAllNodesOneIdentity() {
    var first = ClusterIdentity.establish(etcd, strand, keys, new Random(1), SOON);
    var second = ClusterIdentity.establish(etcd, strand, keys, new Random(2), SOON);
    ClusterIdentity identity = await(first);
    assertEquals(identity, await(second));
    assertEquals(1, identity.formatVersion());
    assertEquals(32, identity.macKey().size());
    assertFalse(identity.toString().contains("macKey"));
  }

  @Test
  void shouldRefuseAClusterOfANewerFormat() {
    await(
        etcd.txn(
            new Txn(
                List.of(),
                List.of(
                    new Txn.Op.Put(
                        keys.cluster(),
                        ClusterRecord.newBuilder().setFormatVersion(2).build().toByteString(),
                        0)),
                List.of()),
            SOON));
    var refusal =
        assertThrows(
            CompletionException.class,
            () -> await(ClusterIdentity.establish(etcd, strand, keys, new Random(1), SOON)));
    assertInstanceOf(IllegalStateException.class, refusal.getCause());
    assertTrue(String.valueOf(refusal.getMessage()).contains("has format 2"));
  }

  @Test
  void shouldGiveUpAskingForTheIdentityAtItsBound() {
    UnkindEtcd network = new UnkindEtcd(etcd);
    network.cut = true;
    var refusal =
        assertThrows(
            CompletionException.class,
            () ->
                await(
                    ClusterIdentity.establish(
                        network, strand, keys, new Random(1), Duration.ofMillis(500))));
    assertInstanceOf(EtcdException.class, refusal.getCause());
  }

  @Test
  void shouldReadAFolderInPages() {
    int count = 2 * Listing.PAGE + 1;
    for (int from = 0; from < count; from += 100) {
      List<Txn.Op> puts = new ArrayList<>();
      for (int i = from; i < Math.min(count, from + 100); i++) {
        puts.add(new Txn.Op.Put(keys.spec(i), ByteString.EMPTY, 0));
      }
      await(etcd.txn(new Txn(List.of(), puts, List.of()), SOON));
    }
    Listing listing = await(Listing.read(etcd, strand, keys.specs(), SOON));
    assertEquals(count, listing.keyValues().size());
    assertEquals(keys.spec(count - 1), listing.keyValues().getLast().key());
    assertTrue(listing.revision() >= listing.keyValues().getLast().modRevision());
    assertEquals(List.of(), await(Listing.read(etcd, strand, keys.history(), SOON)).keyValues());
  }
}
