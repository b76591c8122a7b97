package dev.baton.coordination.jetcd;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.StatusRequest;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A client of a real etcd cluster, with one connection to each member that it has needed so far.
 *
 * <p>It has one thread, on which answers are read and futures complete: a client whose answers are
 * awaited urgently (lease, append) must not share it with one that reads large lists. Deadlines are
 * gRPC's: when one passes, the call is taken back from the connection and the member is told.
 */
public final class JetcdEtcd implements Etcd {
  private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final EventLoopGroup loop;
  private final List<Member> members;
  private final AtomicInteger current = new AtomicInteger();
  private final Set<JetcdWatch> watches = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private JetcdEtcd(EtcdConfig config, String name) {
    this.loop =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("etcd-" + name, true), NioIoHandler.newFactory());
    this.members =
        config.targets().stream().map(target -> new Member(target, config, loop)).toList();
  }

  /** A client that connects when it is used; {@code name} names its thread. */
  public static JetcdEtcd create(EtcdConfig config, String name) {
    return new JetcdEtcd(config, name);
  }

  @Override
  public CompletableFuture<TxnReply> txn(Txn txn, Duration deadline) {
    return call(KVGrpc.getTxnMethod(), Wire.txn(txn), deadline, Wire::reply);
  }

  @Override
  public CompletableFuture<GetReply> get(ByteString key, Duration deadline) {
    return call(
        KVGrpc.getRangeMethod(),
        Wire.get(key),
        deadline,
        response ->
            new GetReply(
                response.getKvsCount() == 0 ? null : Wire.keyValue(response.getKvs(0)),
                response.getHeader().getRevision()));
  }

  @Override
  public CompletableFuture<ListReply> list(ListRequest request, Duration deadline) {
    return call(
        KVGrpc.getRangeMethod(),
        Wire.list(request),
        deadline,
        response ->
            new ListReply(
                response.getKvsList().stream().map(Wire::keyValue).toList(),
                response.getMore(),
                request.revision() == 0 ? response.getHeader().getRevision() : request.revision()));
  }

  @Override
  public CompletableFuture<Lease> grant(Duration ttl, Duration deadline) {
    long seconds = Math.max(1, (ttl.toMillis() + 999) / 1000);
    return call(
        LeaseGrpc.getLeaseGrantMethod(),
        LeaseGrantRequest.newBuilder().setTTL(seconds).build(),
        deadline,
        response -> new Lease(response.getID(), Duration.ofSeconds(response.getTTL())));
  }

  @Override
  public CompletableFuture<Optional<Duration>> renew(long leaseId, Duration deadline) {
    // A stream for etcd; with one request in it, it is a call like the others.
    return call(
        LeaseGrpc.getLeaseKeepAliveMethod(),
        LeaseKeepAliveRequest.newBuilder().setID(leaseId).build(),
        deadline,
        response ->
            response.getTTL() <= 0
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds(response.getTTL())));
  }

  @Override
  public CompletableFuture<Void> revoke(long leaseId, Duration deadline) {
    return succeedOn(
        Kind.LEASE_NOT_FOUND,
        call(
            LeaseGrpc.getLeaseRevokeMethod(),
            LeaseRevokeRequest.newBuilder().setID(leaseId).build(),
            deadline,
            response -> true));
  }

  @Override
  public CompletableFuture<Void> compact(long revision, Duration deadline) {
    return succeedOn(
        Kind.COMPACTED,
        call(
            KVGrpc.getCompactMethod(),
            CompactionRequest.newBuilder().setRevision(revision).build(),
            deadline,
            response -> true));
  }

  @Override
  public CompletableFuture<Status> status(Duration deadline) {
    return call(
        MaintenanceGrpc.getStatusMethod(),
        StatusRequest.getDefaultInstance(),
        deadline,
        response ->
            new Status(
                response.getVersion(),
                response.getDbSize(),
                response.getDbSizeInUse(),
                response.getRaftTerm(),
                response.getLeader(),
                response.getHeader().getRevision()));
  }

  @Override
  public Watch watch(WatchRequest request, WatchListener listener) {
    int index = current.get();
    JetcdWatch watch =
        new JetcdWatch(members.get(index), loop.next(), request, listener) {
          @Override
          void ended(EtcdException failure) {
            watches.remove(this);
            turnFrom(index, failure);
          }
        };
    watches.add(watch);
    watch.open();
    if (closed) {
      watch.close();
    }
    return watch;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    watches.forEach(JetcdWatch::close);
    watches.clear();
    members.forEach(Member::shutdown);
    try {
      long end = System.nanoTime() + CLOSE_NANOS;
      for (Member member : members) {
        member.awaitTermination(end - System.nanoTime());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    var unused = loop.shutdownGracefully(0, CLOSE_NANOS, TimeUnit.NANOSECONDS);
  }

  private <Q, R, T> CompletableFuture<T> call(
      MethodDescriptor<Q, R> method, Q request, Duration deadline, Function<R, T> read) {
    CompletableFuture<T> result = new CompletableFuture<>();
    int index = current.get();
    Member member = members.get(index);
    ClientCalls.asyncUnaryCall(
        member.newCall(
            method,
            CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)),
        request,
        new StreamObserver<R>() {
          @Override
          public void onNext(R response) {
            result.complete(read.apply(response));
          }

          @Override
          public void onError(Throwable failure) {
            result.completeExceptionally(failed(index, io.grpc.Status.fromThrowable(failure)));
          }

          @Override
          public void onCompleted() {}
        });
    return result;
  }

  private EtcdException failed(int index, io.grpc.Status status) {
    Member member = members.get(index);
    if (closed) {
      return new EtcdException(Kind.CLOSED, "The client of etcd is closed.");
    }
    EtcdException failure = Failures.of(status, member.target());
    if (failure.kind() == Kind.AUTH_EXPIRED) {
      member.forgetToken();
    }
    turnFrom(index, failure);
    return failure;
  }

  /** After a call without an answer the next member is asked, once for all calls that failed. */
  private void turnFrom(int index, EtcdException failure) {
    if (failure.isUnknown()) {
      current.compareAndSet(index, (index + 1) % members.size());
      // Later: the channel is still busy with telling this failure.
      if (!closed) {
        loop.execute(members.get(index)::rest);
      }
    }
  }

  private static CompletableFuture<Void> succeedOn(Kind kind, CompletableFuture<Boolean> call) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    var unused =
        call.whenCompleteAsync(
            (answer, failure) -> {
              if (failure == null || EtcdException.of(failure).kind() == kind) {
                result.complete(null);
              } else {
                result.completeExceptionally(EtcdException.of(failure));
              }
            },
            Runnable::run);
    return result;
  }
}
