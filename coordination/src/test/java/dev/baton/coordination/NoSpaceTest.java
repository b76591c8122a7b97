package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.jetcd.EtcdAdmin;
import dev.baton.coordination.testing.RealEtcd;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A real member whose quota is used up, and then made room in. */
class NoSpaceTest extends RealEtcd {
  NoSpaceTest() {
    super(1, "--quota-backend-bytes", Integer.toString(16 << 20));
  }

  @Test
  void shouldStallAtTheQuotaAndResumeWhenThereIsRoom() {
    long term = put(keys.leader(), "me");
    Etcd.Lease lease = await(etcd.grant(Duration.ofSeconds(60), SOON));
    Kind kind = null;
    for (int i = 0; kind == null && i < 100; i++) {
      kind = failureOf(put(i));
    }
    assertEquals(Kind.NO_SPACE, kind);

    assertEquals(Kind.NO_SPACE, failureOf(etcd.grant(Duration.ofSeconds(60), SOON)));
    assertTrue(await(etcd.renew(lease.id(), SOON)).isPresent(), "keep-alives work");
    await(etcd.get(keys.leader(), SOON));

    AppenderTest.Told told = new AppenderTest.Told();
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    Appender appender = new Appender(etcd, strand, keys, term, 0, () -> deadline, told);
    onStrand(() -> appender.append(1, text("one"), text("head"), List.of()));
    awaitUntil("the stall", SOON, () -> told.contains("stalled NO_SPACE"));
    awaitAlways("it waits", Duration.ofMillis(500), () -> told.words.size() == 1);

    await(
        etcd.txn(
            new Txn(
                List.of(),
                List.of(new Op.DeleteRange(keys.specs(), Keys.end(keys.specs()))),
                List.of()),
            SOON));
    await(etcd.compact(read(keys.leader()).revision(), SOON));
    try (EtcdAdmin admin = new EtcdAdmin(cluster.endpoints().getFirst())) {
      admin.makeRoom();
    }
    awaitUntil("entry 1", SOON, () -> told.contains("durable 1"));
    assertEquals(List.of("stalled NO_SPACE", "resumed", "durable 1"), told.words);
    assertNotNull(read(keys.journal(1)).keyValue());
  }

  private CompletableFuture<TxnReply> put(int number) {
    return etcd.txn(
        new Txn(
            List.of(),
            List.of(new Op.Put(keys.spec(number), ByteString.copyFrom(new byte[1 << 20]), 0)),
            List.of()),
        SOON);
  }

  private static @Nullable Kind failureOf(CompletableFuture<?> call) {
    return await(
        call.handle(
            (answer, failure) -> failure == null ? null : EtcdException.of(failure).kind()));
  }
}
