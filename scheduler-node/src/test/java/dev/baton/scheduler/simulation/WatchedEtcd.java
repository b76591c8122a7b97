package dev.baton.scheduler.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import dev.baton.scheduler.simulation.Coverage.Sight;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A node's client of etcd, and what can be told of its protocol from what it asks and hears. */
final class WatchedEtcd implements Etcd {
  private final Etcd etcd;
  private final Keys keys;
  private final Coverage coverage;
  private final BooleanSupplier leads;
  private @Nullable Txn lastAppend;

  WatchedEtcd(Etcd etcd, Keys keys, Coverage coverage, BooleanSupplier leads) {
    this.etcd = etcd;
    this.keys = keys;
    this.coverage = coverage;
    this.leads = leads;
  }

  @Override
  public CompletableFuture<TxnReply> txn(Txn txn, Duration deadline) {
    ByteString head = headOf(txn);
    if (head != null) {
      if (txn.equals(lastAppend)) {
        coverage.see(Sight.RESENT);
      }
      lastAppend = txn;
    }
    if (putsUnder(txn, keys.snapshots())) {
      coverage.see(leads.getAsBoolean() ? Sight.SNAPSHOT_BY_LEADER : Sight.SNAPSHOT_BY_STANDBY);
    }
    CompletableFuture<TxnReply> reply = etcd.txn(txn, deadline);
    if (head == null) {
      return reply;
    }
    return reply.whenCompleteAsync((answer, failure) -> see(txn, head, answer), Runnable::run);
  }

  private void see(Txn txn, ByteString head, @Nullable TxnReply answer) {
    if (answer == null || answer.succeeded()) {
      return;
    }
    boolean earlierCopy =
        answer.find(keys.head()).map(found -> found.value().equals(head)).orElse(false);
    long term = ((Txn.Compare.ModRevision) txn.compares().getFirst()).revision();
    boolean fenced =
        answer.find(keys.leader()).map(found -> found.modRevision() != term).orElse(true);
    if (fenced) {
      coverage.see(Sight.FENCED);
    } else if (earlierCopy) {
      coverage.see(Sight.RESENT_COPY_WON);
    }
  }

  /** What it makes of the head; null: it leaves it alone. */
  private @Nullable ByteString headOf(Txn txn) {
    for (Txn.Op op : txn.then()) {
      if (op instanceof Txn.Op.Put put && put.key().equals(keys.head())) {
        return put.value();
      }
    }
    return null;
  }

  private static boolean putsUnder(Txn txn, ByteString folder) {
    return txn.then().stream()
        .anyMatch(op -> op instanceof Txn.Op.Put put && put.key().startsWith(folder));
  }

  @Override
  public CompletableFuture<GetReply> get(ByteString key, Duration deadline) {
    return etcd.get(key, deadline);
  }

  @Override
  public CompletableFuture<ListReply> list(ListRequest request, Duration deadline) {
    return etcd.list(request, deadline);
  }

  @Override
  public Watch watch(WatchRequest request, WatchListener listener) {
    return etcd.watch(request, listener);
  }

  @Override
  public CompletableFuture<Lease> grant(Duration ttl, Duration deadline) {
    return etcd.grant(ttl, deadline);
  }

  @Override
  public CompletableFuture<Optional<Duration>> renew(long leaseId, Duration deadline) {
    return etcd.renew(leaseId, deadline);
  }

  @Override
  public CompletableFuture<Void> revoke(long leaseId, Duration deadline) {
    return etcd.revoke(leaseId, deadline);
  }

  @Override
  public CompletableFuture<Void> compact(long revision, Duration deadline) {
    return etcd.compact(revision, deadline);
  }

  @Override
  public CompletableFuture<Status> status(Duration deadline) {
    return etcd.status(deadline);
  }

  @Override
  public void close() {
    etcd.close();
  }
}
