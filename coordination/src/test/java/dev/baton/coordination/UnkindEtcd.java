package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** The network to a real etcd: it can be cut, it can lose answers, and it knows what was sent. */
final class UnkindEtcd implements Etcd {
  final List<Txn> sent = new CopyOnWriteArrayList<>();

  /** So many transactions are carried out and not answered. */
  final AtomicInteger answersToLose = new AtomicInteger();

  /** Calls return when they are answered. */
  volatile boolean synchronous;

  volatile boolean cut;

  private final List<WatchListener> watches = new CopyOnWriteArrayList<>();
  private final Etcd etcd;

  UnkindEtcd(Etcd etcd) {
    this.etcd = etcd;
  }

  /** Fails the open watches. */
  void failWatches(Kind kind) {
    List<WatchListener> open = List.copyOf(watches);
    watches.clear();
    open.forEach(listener -> listener.onFailure(new EtcdException(kind, "The watch is cut.")));
  }

  @Override
  public CompletableFuture<TxnReply> txn(Txn txn, Duration deadline) {
    sent.add(txn);
    CompletableFuture<TxnReply> call = send(deadline, () -> etcd.txn(txn, deadline));
    if (!cut && answersToLose.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      return call.handle((answer, failure) -> answer).thenCompose(answer -> silence(deadline));
    }
    return call;
  }

  @Override
  public CompletableFuture<GetReply> get(ByteString key, Duration deadline) {
    return send(deadline, () -> etcd.get(key, deadline));
  }

  @Override
  public CompletableFuture<ListReply> list(ListRequest request, Duration deadline) {
    return send(deadline, () -> etcd.list(request, deadline));
  }

  @Override
  public Watch watch(WatchRequest request, WatchListener listener) {
    watches.add(listener);
    return etcd.watch(
        request,
        new WatchListener() {
          @Override
          public void onOpen() {
            if (watches.contains(listener)) {
              listener.onOpen();
            }
          }

          @Override
          public void onEvents(List<WatchEvent> events, long revision) {
            if (!cut && watches.contains(listener)) {
              listener.onEvents(events, revision);
            }
          }

          @Override
          public void onFailure(EtcdException failure) {
            if (watches.remove(listener)) {
              listener.onFailure(failure);
            }
          }
        });
  }

  @Override
  public CompletableFuture<Lease> grant(Duration ttl, Duration deadline) {
    return send(deadline, () -> etcd.grant(ttl, deadline));
  }

  @Override
  public CompletableFuture<Optional<Duration>> renew(long leaseId, Duration deadline) {
    return send(deadline, () -> etcd.renew(leaseId, deadline));
  }

  @Override
  public CompletableFuture<Void> revoke(long leaseId, Duration deadline) {
    return send(deadline, () -> etcd.revoke(leaseId, deadline));
  }

  @Override
  public CompletableFuture<Void> compact(long revision, Duration deadline) {
    return send(deadline, () -> etcd.compact(revision, deadline));
  }

  @Override
  public CompletableFuture<Status> status(Duration deadline) {
    return send(deadline, () -> etcd.status(deadline));
  }

  @Override
  public void close() {
    etcd.close();
  }

  private <T> CompletableFuture<T> send(Duration deadline, Supplier<CompletableFuture<T>> call) {
    if (cut) {
      return silence(deadline);
    }
    CompletableFuture<T> answer = call.get();
    if (synchronous) {
      var unused = answer.handle((reply, failure) -> true).join();
    }
    return answer;
  }

  private static <T> CompletableFuture<T> silence(Duration deadline) {
    CompletableFuture<T> never = new CompletableFuture<>();
    CompletableFuture.delayedExecutor(deadline.toNanos(), TimeUnit.NANOSECONDS)
        .execute(() ->
            never.completeExceptionally(
                new EtcdException(Kind.UNKNOWN_OUTCOME, "No answer came.")));
    return never;
  }
}
