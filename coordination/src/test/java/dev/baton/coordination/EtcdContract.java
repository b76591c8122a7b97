package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.Lease;
import dev.baton.coordination.Etcd.ListReply;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.Etcd.WatchRequest;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * What every {@link Etcd} does.
 *
 * <p>An implementation with a time of its own drives it in {@link #await} and {@link #awaitUntil}.
 */
public abstract class EtcdContract {
  protected static final Duration DEADLINE = Duration.ofSeconds(5);

  /** Keys of this test alone. */
  protected final Keys keys = new Keys("t" + UUID.randomUUID().toString().substring(0, 8));

  protected abstract Etcd etcd();

  protected abstract <T> T await(CompletableFuture<T> call);

  protected abstract void awaitUntil(String what, Duration bound, BooleanSupplier condition);

  @Test
  void shouldRunTheFirstBranchIfAllComparisonsHold() {
    long created = put("a", "1");
    TxnReply reply =
        txn(
            List.of(
                new Compare.ModRevision(key("a"), created),
                new Compare.CreateRevision(key("a"), created),
                new Compare.ModRevision(key("absent"), 0),
                new Compare.CreateRevision(key("absent"), 0)),
            List.of(
                new Op.Put(key("a"), text("2"), 0),
                new Op.Put(key("b"), text("3"), 0),
                new Op.Get(key("absent"))),
            List.of());
    assertTrue(reply.succeeded());
    assertEquals(List.of(), reply.read());
    KeyValue a = get("a");
    assertEquals(text("2"), a.value());
    assertEquals(created, a.createRevision());
    assertEquals(reply.revision(), a.modRevision());
    assertEquals(reply.revision(), get("b").createRevision());
  }

  @Test
  void shouldRunTheOtherBranchIfAComparisonFails() {
    long created = put("a", "1");
    TxnReply reply =
        txn(
            List.of(
                new Compare.ModRevision(key("a"), created),
                new Compare.ModRevision(key("absent"), created)),
            List.of(new Op.Put(key("a"), text("2"), 0)),
            List.of(new Op.Get(key("a")), new Op.Get(key("absent"))));
    assertFalse(reply.succeeded());
    assertEquals(1, reply.read().size());
    assertEquals(text("1"), reply.find(key("a")).orElseThrow().value());
    assertTrue(reply.find(key("absent")).isEmpty());
    assertFalse(
        txn(List.of(new Compare.CreateRevision(key("a"), 0)), List.of(), List.of()).succeeded());
    assertFalse(
        txn(List.of(new Compare.CreateRevision(key("a"), created + 1)), List.of(), List.of())
            .succeeded());
  }

  @Test
  void shouldGiveNoRevisionTwice() {
    long first = put("a", "1");
    assertTrue(txn(List.of(), List.of(new Op.Delete(key("a"))), List.of()).revision() > first);
    assertTrue(put("a", "1") > first + 1);
    KeyValue again = get("a");
    assertTrue(again.createRevision() > first);
  }

  @Test
  void shouldDeleteRanges() {
    List.of("r/1", "r/2", "r/3", "s").forEach(name -> put(name, "x"));
    txn(List.of(), List.of(new Op.DeleteRange(key("r/1"), key("r/3"))), List.of());
    assertEquals(
        List.of(key("r/3"), key("s")),
        await(etcd().list(new ListRequest(key(""), Keys.end(key("")), 0, 0, true), DEADLINE))
            .keyValues()
            .stream()
            .map(KeyValue::key)
            .toList());
  }

  @Test
  void shouldRefuseATransactionThatNamesAKeyTwice() {
    Op put = new Op.Put(key("a"), text("1"), 0);
    assertEquals(Kind.DUPLICATE_KEY, failure(txnCall(List.of(), List.of(put, put))));
    assertNull(await(etcd().get(key("a"), DEADLINE)).keyValue());
  }

  @Test
  void shouldRefuseAPutUnderARangeDeleteOfTheSameTransaction() {
    assertEquals(
        Kind.DUPLICATE_KEY,
        failure(
            txnCall(
                List.of(),
                List.of(
                    new Op.Put(key("r/2"), text("1"), 0),
                    new Op.DeleteRange(key("r/1"), key("r/3"))))));
  }

  @Test
  void shouldTake128OperationsAndRefuseMore() {
    List<Op> ops = new ArrayList<>();
    for (int i = 0; i < 128; i++) {
      ops.add(new Op.Put(key("n/" + i), text("x"), 0));
    }
    assertTrue(await(txnCall(List.of(), ops)).succeeded());
    ops.add(new Op.Put(key("n/128"), text("x"), 0));
    assertEquals(Kind.TOO_LARGE, failure(txnCall(List.of(), ops)));
  }

  @Test
  void shouldTakeOurLargestTransactionAndRefuseTwoMebibytes() {
    ByteString half = ByteString.copyFrom(new byte[Limits.ENTRY_BYTES]);
    assertTrue(
        await(
                txnCall(
                    List.of(),
                    List.of(new Op.Put(key("a"), half, 0), new Op.Put(key("b"), half, 0))))
            .succeeded());
    ByteString large = ByteString.copyFrom(new byte[2 << 20]);
    assertEquals(
        Kind.TOO_LARGE, failure(txnCall(List.of(), List.of(new Op.Put(key("c"), large, 0)))));
  }

  @Test
  void shouldRefuseADuplicateInTheBranchThatWouldNotRunToo() {
    Op put = new Op.Put(key("a"), text("1"), 0);
    assertEquals(
        Kind.DUPLICATE_KEY,
        failure(etcd().txn(new Txn(List.of(), List.of(put), List.of(put, put)), DEADLINE)));
    assertNull(await(etcd().get(key("a"), DEADLINE)).keyValue());
  }

  @Test
  void shouldRefuseAPutAndADeleteOfOneKeyButNotTwoDeletes() {
    put("a", "1");
    Op delete = new Op.Delete(key("a"));
    assertEquals(
        Kind.DUPLICATE_KEY,
        failure(txnCall(List.of(), List.of(delete, new Op.Put(key("a"), text("2"), 0)))));
    assertTrue(
        await(txnCall(List.of(), List.of(delete, new Op.DeleteRange(key(""), key("z")), delete)))
            .succeeded());
    assertNull(await(etcd().get(key("a"), DEADLINE)).keyValue());
  }

  @Test
  void shouldRefuseMoreThan128Comparisons() {
    List<Compare> compares = new ArrayList<>();
    for (int i = 0; i < 128; i++) {
      compares.add(new Compare.ModRevision(key("n/" + i), 0));
    }
    assertTrue(await(txnCall(compares, List.of())).succeeded());
    compares.add(new Compare.ModRevision(key("n/128"), 0));
    assertEquals(Kind.TOO_LARGE, failure(txnCall(compares, List.of())));
  }

  @Test
  void shouldRefuseRequestsAboveOneAndAHalfMebibytes() {
    int limit = 1536 << 10;
    ByteString below = ByteString.copyFrom(new byte[limit - 200]);
    ByteString above = ByteString.copyFrom(new byte[limit]);
    assertTrue(await(txnCall(List.of(), List.of(new Op.Put(key("a"), below, 0)))).succeeded());
    assertEquals(
        Kind.TOO_LARGE, failure(txnCall(List.of(), List.of(new Op.Put(key("b"), above, 0)))));
    assertEquals(
        Kind.TOO_LARGE,
        failure(
            etcd()
                .txn(
                    new Txn(
                        List.of(),
                        List.of(new Op.Put(key("c"), below, 0)),
                        List.of(new Op.Put(key("d"), text("x".repeat(400)), 0))),
                    DEADLINE)),
        "both branches count");
    assertNull(await(etcd().get(key("c"), DEADLINE)).keyValue());
  }

  @Test
  void shouldReadInATransactionWhatItHasWrittenBefore() {
    put("b", "1");
    TxnReply reply =
        txn(
            List.of(),
            List.of(
                new Op.Get(key("a")),
                new Op.Put(key("a"), text("1"), 0),
                new Op.Get(key("a")),
                new Op.Get(key("b")),
                new Op.Delete(key("b")),
                new Op.Get(key("b"))),
            List.of());
    assertEquals(List.of(key("a"), key("b")), reply.read().stream().map(KeyValue::key).toList());
    assertEquals(reply.revision(), reply.find(key("a")).orElseThrow().modRevision());
  }

  @Test
  void shouldMakeNoRevisionOfATransactionThatChangesNothing() {
    long before = put("a", "1");
    assertEquals(
        before,
        txn(
                List.of(),
                List.of(new Op.Delete(key("absent")), new Op.DeleteRange(key("r/9"), key("r/1"))),
                List.of())
            .revision());
    assertEquals(before, await(etcd().get(key("a"), DEADLINE)).revision());
    assertTrue(txn(List.of(), List.of(), List.of()).succeeded());
  }

  @Test
  void shouldRefuseAnEmptyKey() {
    Op put = new Op.Put(ByteString.EMPTY, text("1"), 0);
    assertEquals(Kind.REFUSED, failure(txnCall(List.of(), List.of(put))));
  }

  @Test
  void shouldRefuseAnAnswerAboveTheClientsLimit() {
    ByteString mebibyte = ByteString.copyFrom(new byte[1 << 20]);
    long first = 0;
    for (int i = 0; i <= Etcd.MAX_ANSWER_BYTES >> 20; i++) {
      long put =
          txn(List.of(), List.of(new Op.Put(key("w/" + i), mebibyte, 0)), List.of()).revision();
      first = first == 0 ? put : first;
    }
    ListRequest all = new ListRequest(key("w/"), Keys.end(key("w/")), 0, 0, false);
    assertEquals(Kind.TOO_LARGE, failure(etcd().list(all, Duration.ofSeconds(20))));
    ListRequest half = new ListRequest(all.from(), all.to(), 32, 0, false);
    assertEquals(32, await(etcd().list(half, DEADLINE)).keyValues().size());
    Seen seen = watch(first, false);
    awaitUntil("the end of the watch", DEADLINE, () -> !seen.failures.isEmpty());
    assertEquals(List.of(Kind.TOO_LARGE), List.copyOf(seen.failures));
    txn(List.of(), List.of(new Op.DeleteRange(key("w/"), Keys.end(key("w/")))), List.of());
  }

  @Test
  void shouldListInPagesAsOfOneRevision() {
    for (int i = 0; i < 7; i++) {
      put("l/" + i, "v" + i);
    }
    ByteString from = key("l/");
    ByteString to = Keys.end(from);
    ListReply first = await(etcd().list(new ListRequest(from, to, 3, 0, false), DEADLINE));
    assertEquals(3, first.keyValues().size());
    assertTrue(first.more());
    put("l/5", "changed");
    put("l/9", "new");
    ByteString next = Keys.after(first.keyValues().get(2).key());
    ListReply second =
        await(etcd().list(new ListRequest(next, to, 10, first.revision(), false), DEADLINE));
    assertEquals(
        List.of("v3", "v4", "v5", "v6"),
        second.keyValues().stream().map(kv -> kv.value().toStringUtf8()).toList());
    assertFalse(second.more());
    assertEquals(first.revision(), second.revision());
    ListReply names = await(etcd().list(new ListRequest(from, to, 0, 0, true), DEADLINE));
    assertEquals(8, names.keyValues().size());
    assertTrue(names.keyValues().stream().allMatch(kv -> kv.value().isEmpty()));
    assertTrue(names.revision() > first.revision());
  }

  @Test
  void shouldReadWhatWasWritten() {
    assertNull(await(etcd().get(key("a"), DEADLINE)).keyValue());
    long written = put("a", "1");
    assertTrue(await(etcd().get(key("a"), DEADLINE)).revision() >= written);
    assertEquals(0, get("a").leaseId());
  }

  @Test
  void shouldEndALeaseWithItsKeys() {
    Lease lease = await(etcd().grant(Duration.ofSeconds(60), DEADLINE));
    assertEquals(Duration.ofSeconds(60), lease.ttl());
    txn(List.of(), List.of(new Op.Put(key("a"), text("1"), lease.id())), List.of());
    assertEquals(lease.id(), get("a").leaseId());
    assertEquals(Optional.of(Duration.ofSeconds(60)), await(etcd().renew(lease.id(), DEADLINE)));
    await(etcd().revoke(lease.id(), DEADLINE));
    assertNull(await(etcd().get(key("a"), DEADLINE)).keyValue());
    assertEquals(Optional.empty(), await(etcd().renew(lease.id(), DEADLINE)));
    await(etcd().revoke(lease.id(), DEADLINE));
    assertEquals(
        Kind.LEASE_NOT_FOUND,
        failure(txnCall(List.of(), List.of(new Op.Put(key("a"), text("1"), lease.id())))));
  }

  @Test
  void shouldGrantWholeSeconds() {
    Lease lease = await(etcd().grant(Duration.ofMillis(4001), DEADLINE));
    assertEquals(Duration.ofSeconds(5), lease.ttl());
    assertEquals(Optional.of(lease.ttl()), await(etcd().renew(lease.id(), DEADLINE)));
  }

  @Test
  void shouldKeepAKeyUnderTheLeaseOfItsLastPutOnly() {
    Lease first = await(etcd().grant(Duration.ofSeconds(60), DEADLINE));
    Lease second = await(etcd().grant(Duration.ofSeconds(60), DEADLINE));
    txn(
        List.of(),
        List.of(
            new Op.Put(key("a"), text("1"), first.id()),
            new Op.Put(key("b"), text("1"), first.id()),
            new Op.Put(key("c"), text("1"), first.id()),
            new Op.Put(key("d"), text("1"), first.id())),
        List.of());
    put("a", "2");
    txn(List.of(), List.of(new Op.Put(key("b"), text("2"), second.id())), List.of());
    long before = await(etcd().get(key("a"), DEADLINE)).revision();
    await(etcd().revoke(first.id(), DEADLINE));
    assertEquals(0, get("a").leaseId());
    assertEquals(second.id(), get("b").leaseId());
    assertNull(await(etcd().get(key("c"), DEADLINE)).keyValue());
    assertEquals(before + 1, await(etcd().get(key("d"), DEADLINE)).revision(), "one revision");
  }

  @Test
  void shouldWriteNothingIfALeaseIsUnknown() {
    Op known = new Op.Put(key("a"), text("1"), 0);
    Op unknown = new Op.Put(key("b"), text("1"), 4711);
    assertEquals(Kind.LEASE_NOT_FOUND, failure(txnCall(List.of(), List.of(known, unknown))));
    assertNull(await(etcd().get(key("a"), DEADLINE)).keyValue());
    txn(List.of(), List.of(known), List.of(unknown));
    assertEquals(text("1"), get("a").value(), "the branch that did not run");
  }

  @Test
  void shouldDeleteTheKeysOfALeaseThatIsNotRenewed() {
    Lease lease = await(etcd().grant(Duration.ofSeconds(1), DEADLINE));
    assertNotEquals(lease.id(), await(etcd().grant(Duration.ofSeconds(9), DEADLINE)).id());
    assertTrue(lease.ttl().compareTo(Duration.ofSeconds(1)) >= 0);
    long put =
        txn(List.of(), List.of(new Op.Put(key("w/a"), text("1"), lease.id())), List.of())
            .revision();
    Seen seen = watch(put, true);
    awaitUntil("the expiry", Duration.ofSeconds(10), () -> seen.events.size() == 2);
    assertNull(seen.events.get(1).value());
    assertEquals(Optional.empty(), await(etcd().renew(lease.id(), DEADLINE)));
  }

  @Test
  void shouldWatchFromARevisionOn() {
    put("w/0", "before");
    long first = put("w/1", "x");
    put("other", "outside");
    long second =
        txn(
                List.of(),
                List.of(new Op.Put(key("w/2"), text("y"), 0), new Op.Put(key("w/3"), text("z"), 0)),
                List.of())
            .revision();
    Seen seen = watch(first, false);
    awaitUntil("the past", DEADLINE, () -> seen.events.size() == 3);
    assertTrue(seen.opened);
    txn(List.of(), List.of(new Op.Delete(key("w/1"))), List.of());
    long third = put("w/1", "again");
    awaitUntil("the present", DEADLINE, () -> seen.events.size() == 4);
    assertEquals(
        List.of(
            new WatchEvent(key("w/1"), text("x"), first, first),
            new WatchEvent(key("w/2"), text("y"), second, second),
            new WatchEvent(key("w/3"), text("z"), second, second),
            new WatchEvent(key("w/1"), text("again"), third, third)),
        List.copyOf(seen.events));
    assertEquals(List.of(), List.copyOf(seen.failures));
  }

  @Test
  void shouldTellDeletesIfAsked() {
    put("w/1", "x");
    long revision = put("w/2", "x");
    Seen seen = watch(revision + 1, true);
    txn(List.of(), List.of(new Op.DeleteRange(key("w/"), key("w0"))), List.of());
    awaitUntil("the deletes", DEADLINE, () -> seen.events.size() == 2);
    for (WatchEvent event : seen.events) {
      assertNull(event.value());
      assertEquals(revision + 1, event.modRevision());
    }
  }

  @Test
  void shouldTellTheRevisionOfADeleteAndNothingElseOfIt() {
    put("w/1", "x");
    Seen seen = watch(0, true);
    awaitUntil("the watch", DEADLINE, () -> seen.opened);
    put("w/1", "y");
    long deleted = txn(List.of(), List.of(new Op.Delete(key("w/1"))), List.of()).revision();
    long again = put("w/1", "z");
    awaitUntil("all of it", DEADLINE, () -> seen.events.size() == 3);
    assertEquals(new WatchEvent(key("w/1"), null, 0, deleted), seen.events.get(1));
    assertEquals(new WatchEvent(key("w/1"), text("z"), again, again), seen.events.get(2));
    assertEquals(again, seen.revision);
  }

  @Test
  void shouldTellWholeRevisions() {
    long first = put("w/0", "x");
    for (int i = 0; i < 20; i++) {
      List<Op> ops = new ArrayList<>();
      for (int j = 0; j < 100; j++) {
        ops.add(new Op.Put(key("w/" + j), text("x"), 0));
      }
      txn(List.of(), ops, List.of());
    }
    Seen seen = watch(first, false);
    awaitUntil("all of it", DEADLINE, () -> seen.events.size() == 2001);
    for (List<WatchEvent> batch : seen.batches) {
      assertEquals(
          0, batch.stream().filter(event -> event.modRevision() > first).count() % 100, "a part");
    }
  }

  @Test
  void shouldWaitForARevisionToCome() {
    long now = put("w/1", "x");
    Seen seen = watch(now + 3, false);
    awaitUntil("the watch", DEADLINE, () -> seen.opened);
    put("w/1", "1");
    put("w/1", "2");
    long awaited = put("w/1", "3");
    awaitUntil("the event", DEADLINE, () -> !seen.events.isEmpty());
    assertEquals(awaited, seen.events.getFirst().modRevision());
    assertEquals(
        Kind.REFUSED,
        failure(
            etcd()
                .list(
                    new ListRequest(key("w/"), key("w0"), 0, awaited + 1_000_000, false),
                    DEADLINE)));
  }

  @Test
  void shouldReadAndWatchAsOfTheRevisionToWhichItIsCompacted() {
    put("w/1", "1");
    long kept = put("w/1", "2");
    put("w/1", "3");
    await(etcd().compact(kept, DEADLINE));
    ListReply read =
        await(etcd().list(new ListRequest(key("w/"), key("w0"), 0, kept, false), DEADLINE));
    assertEquals(text("2"), read.keyValues().getFirst().value());
    assertEquals(kept, read.revision());
    Seen seen = watch(kept, true);
    awaitUntil("both", DEADLINE, () -> seen.events.size() == 2);
    assertEquals(List.of(), List.copyOf(seen.failures));
  }

  @Test
  void shouldShowThatAWatchWithoutEventsIsAlive() {
    long revision = put("a", "1");
    Seen seen = watch(0, false);
    awaitUntil("signs of life", DEADLINE, () -> seen.signsOfLife >= 2);
    assertTrue(seen.revision >= revision);
    int before = seen.signsOfLife;
    long event = put("w/1", "x");
    awaitUntil("more of them", DEADLINE, () -> seen.signsOfLife >= before + 2);
    assertEquals(1, seen.events.size());
    assertTrue(seen.revision >= event);
  }

  @Test
  void shouldNotCallTheListenerOfAClosedWatch() {
    Seen closed = new Seen();
    Etcd.Watch watch = etcd().watch(folder(0, false), closed);
    awaitUntil("the watch", DEADLINE, () -> closed.opened);
    watch.close();
    watch.close();
    int signs = closed.signsOfLife;
    Seen other = watch(0, false);
    awaitUntil("the watch", DEADLINE, () -> other.opened);
    put("w/1", "x");
    awaitUntil("the event", DEADLINE, () -> other.events.size() == 1);
    awaitUntil("signs of life", DEADLINE, () -> other.signsOfLife >= 2);
    assertEquals(0, closed.events.size());
    assertEquals(signs, closed.signsOfLife);
    assertEquals(0, closed.failures.size());
  }

  @Test
  void shouldSayThatARevisionIsCompacted() {
    long old = put("w/1", "1");
    put("w/1", "2");
    long kept = put("w/1", "3");
    await(etcd().compact(kept, DEADLINE));
    await(etcd().compact(old, DEADLINE));
    assertEquals(
        Kind.COMPACTED,
        failure(
            etcd().list(new ListRequest(key("w/"), Keys.end(key("w/")), 0, old, false), DEADLINE)));
    Seen seen = watch(old, false);
    awaitUntil("the failure", DEADLINE, () -> !seen.failures.isEmpty());
    put("w/1", "4");
    Seen later = watch(kept, false);
    awaitUntil("the kept ones", DEADLINE, () -> later.events.size() == 2);
    assertEquals(List.of(Kind.COMPACTED), List.copyOf(seen.failures));
    assertEquals(0, seen.events.size());
    assertEquals(Kind.REFUSED, failure(etcd().compact(kept + 1_000_000, DEADLINE)));
  }

  @Test
  void shouldTellItsStatus() {
    long revision = put("a", "1");
    Etcd.Status status = await(etcd().status(DEADLINE));
    assertFalse(status.version().isEmpty());
    assertTrue(status.sizeInUseBytes() > 0);
    assertTrue(status.sizeBytes() >= status.sizeInUseBytes());
    assertTrue(status.revision() >= revision);
    assertNotEquals(0, status.leaderId());
    assertNotEquals(0, status.raftTerm());
  }

  protected ByteString key(String name) {
    return ByteString.copyFromUtf8(keys.prefix() + name);
  }

  protected static ByteString text(String value) {
    return ByteString.copyFromUtf8(value);
  }

  protected long put(String name, String value) {
    return txn(List.of(), List.of(new Op.Put(key(name), text(value), 0)), List.of()).revision();
  }

  protected KeyValue get(String name) {
    KeyValue found = await(etcd().get(key(name), DEADLINE)).keyValue();
    assertNotNull(found, name);
    return found;
  }

  protected TxnReply txn(List<Compare> compares, List<Op> then, List<Op> otherwise) {
    return await(etcd().txn(new Txn(compares, then, otherwise), DEADLINE));
  }

  protected CompletableFuture<TxnReply> txnCall(List<Compare> compares, List<Op> then) {
    return etcd().txn(new Txn(compares, then, List.of()), DEADLINE);
  }

  protected Kind failure(CompletableFuture<?> call) {
    return await(
            call.handle((answer, failure) ->
                failure == null
                    ? Optional.<Kind>empty()
                    : Optional.of(EtcdException.of(failure).kind())))
        .orElseThrow(() -> new AssertionError("Expected a failure, but the call succeeded."));
  }

  /** A watch of the folder {@code w/}. */
  protected Seen watch(long startRevision, boolean deletes) {
    Seen seen = new Seen();
    etcd().watch(folder(startRevision, deletes), seen);
    return seen;
  }

  protected WatchRequest folder(long startRevision, boolean deletes) {
    return new WatchRequest(key("w/"), Keys.end(key("w/")), startRevision, deletes);
  }

  /** What a watch has told. */
  protected static final class Seen implements Etcd.WatchListener {
    public final List<WatchEvent> events = new CopyOnWriteArrayList<>();
    public final List<List<WatchEvent>> batches = new CopyOnWriteArrayList<>();
    public final List<Kind> failures = new CopyOnWriteArrayList<>();
    public volatile boolean opened;
    public volatile int signsOfLife;
    public volatile long revision;

    public Seen() {}

    @Override
    public void onOpen() {
      opened = true;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // One call at a time: that is the contract.
    public void onEvents(List<WatchEvent> told, long upTo) {
      events.addAll(told);
      batches.add(told);
      signsOfLife++;
      revision = upTo;
    }

    @Override
    public void onFailure(EtcdException failure) {
      failures.add(failure.kind());
    }
  }
}
