package dev.baton.coordination.testing;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The network to a real etcd: it can be cut, loses or holds back what comes, and counts what goes.
 */
public final class UnkindEtcd implements Etcd {
  /** Calls of all kinds, answered or not. */
  public final AtomicInteger calls = new AtomicInteger();

  /** Transactions that were sent. */
  public final List<Txn> sent = new CopyOnWriteArrayList<>();

  /** Pages and single keys that were read, by the first key of each. */
  public final List<ByteString> reads = new CopyOnWriteArrayList<>();

  /** So many transactions are carried out and not answered. */
  public final AtomicInteger answersToLose = new AtomicInteger();

  /** Calls return when they are answered. */
  public volatile boolean synchronous;

  /** No call is answered, and watches are silent. */
  public volatile boolean cut;

  /** Every call fails at once, and no watch tells anything. */
  public volatile boolean down;

  /** Transactions that are not sent, and fail at once. */
  public volatile Predicate<Txn> failing = txn -> false;

  private final List<Follower> followers = new CopyOnWriteArrayList<>();
  private final Etcd etcd;
  private volatile Predicate<ByteString> holds = key -> false;
  private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

  public UnkindEtcd(Etcd etcd) {
    this.etcd = etcd;
  }

  /** Holds back answers about keys, and what watches from them tell, until {@link #release}. */
  public void hold(Predicate<ByteString> keys) {
    gate = new CompletableFuture<>();
    holds = keys;
  }

  public void release() {
    holds = key -> false;
    followers.forEach(Follower::release);
    gate.complete(null);
  }

  /** Fails the open watches. */
  public void failWatches(Kind kind) {
    List<Follower> open = List.copyOf(followers);
    followers.clear();
    open.forEach(follower -> follower.fail(kind));
  }

  /** Open watches. */
  public int watches() {
    return followers.size();
  }

  private final class Follower implements WatchListener {
    private final ByteString from;
    private final WatchListener listener;
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean over;

    Follower(ByteString from, WatchListener listener) {
      this.from = from;
      this.listener = listener;
    }

    private synchronized void tell(Runnable word) {
      if (!over && !down) {
        waiting.add(word);
        if (!holds.test(from)) {
          release();
        }
      }
    }

    synchronized void release() {
      waiting.forEach(Runnable::run);
      waiting.clear();
    }

    synchronized void fail(Kind kind) {
      over = true;
      listener.onFailure(new EtcdException(kind, "The watch is cut."));
    }

    @Override
    public void onOpen() {
      tell(listener::onOpen);
    }

    @Override
    public void onEvents(List<WatchEvent> events, long revision) {
      if (!cut) {
        tell(() -> listener.onEvents(events, revision));
      }
    }

    @Override
    public void onFailure(EtcdException failure) {
      followers.remove(this);
      tell(() -> listener.onFailure(failure));
    }
  }

  @Override
  public CompletableFuture<TxnReply> txn(Txn txn, Duration deadline) {
    sent.add(txn);
    if (failing.test(txn)) {
      return unavailable();
    }
    CompletableFuture<TxnReply> call = send(deadline, () -> etcd.txn(txn, deadline));
    if (!cut && answersToLose.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      return call.handle((answer, failure) -> answer).thenCompose(answer -> silence(deadline));
    }
    return call;
  }

  @Override
  public CompletableFuture<GetReply> get(ByteString key, Duration deadline) {
    reads.add(key);
    return held(key, send(deadline, () -> etcd.get(key, deadline)));
  }

  @Override
  public CompletableFuture<ListReply> list(ListRequest request, Duration deadline) {
    reads.add(request.from());
    return held(request.from(), send(deadline, () -> etcd.list(request, deadline)));
  }

  @Override
  public Watch watch(WatchRequest request, WatchListener listener) {
    Follower follower = new Follower(request.from(), listener);
    followers.add(follower);
    Watch watch = etcd.watch(request, follower);
    return () -> {
      followers.remove(follower);
      watch.close();
    };
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

  private <T> CompletableFuture<T> held(ByteString key, CompletableFuture<T> answer) {
    return holds.test(key) ? answer.thenCombine(gate, (value, open) -> value) : answer;
  }

  private <T> CompletableFuture<T> send(Duration deadline, Supplier<CompletableFuture<T>> call) {
    calls.incrementAndGet();
    if (down) {
      return unavailable();
    }
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

  private static <T> CompletableFuture<T> unavailable() {
    return CompletableFuture.failedFuture(
        new EtcdException(Kind.UNAVAILABLE, "The network to etcd is cut."));
  }
}
