package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import dev.baton.coordination.simulation.Faults.Way;
import dev.baton.coordination.simulation.World.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * A client in the world: a call is one request to one member and one answer, each an event.
 *
 * <p>A request lives longer than its call: what was sent may be carried out at any later time,
 * whoever has given up waiting.
 */
final class SimulatedClient implements Etcd {
  private final World world;
  private final SimulatedEtcd etcd;
  private final Faults faults;
  private final String owner;
  private final Link link;
  private final List<Call<?>> pending = new ArrayList<>();
  private final List<SimulatedWatch> watches = new ArrayList<>();
  private int current;
  private boolean closed;

  SimulatedClient(World world, SimulatedEtcd etcd, String owner) {
    this.world = world;
    this.etcd = etcd;
    this.faults = etcd.faults();
    this.owner = owner;
    this.link = faults.link(owner);
  }

  String owner() {
    return owner;
  }

  /** Whom it asks next. */
  int member() {
    return current;
  }

  Link link() {
    return link;
  }

  @Override
  public CompletableFuture<TxnReply> txn(Txn txn, Duration deadline) {
    return call(
        new Request<>(
            member -> etcd.txn(txn, member),
            Transactions.isWrite(txn),
            Transactions.isLocal(txn),
            reply -> bytes(reply.read())),
        deadline);
  }

  @Override
  public CompletableFuture<GetReply> get(ByteString key, Duration deadline) {
    return call(Request.read(() -> etcd.get(key), reply -> 0L), deadline);
  }

  @Override
  public CompletableFuture<ListReply> list(ListRequest request, Duration deadline) {
    return call(
        Request.read(() -> etcd.list(request), reply -> bytes(reply.keyValues())), deadline);
  }

  @Override
  public CompletableFuture<Lease> grant(Duration ttl, Duration deadline) {
    return call(Request.change(() -> etcd.grant(ttl)), deadline);
  }

  @Override
  public CompletableFuture<Optional<Duration>> renew(long leaseId, Duration deadline) {
    return call(Request.read(() -> etcd.renew(leaseId), reply -> 0L), deadline);
  }

  @Override
  public CompletableFuture<Void> revoke(long leaseId, Duration deadline) {
    return done(() -> etcd.revoke(leaseId), deadline);
  }

  @Override
  public CompletableFuture<Void> compact(long revision, Duration deadline) {
    return done(() -> etcd.compact(revision), deadline);
  }

  @Override
  public CompletableFuture<Status> status(Duration deadline) {
    return call(new Request<>(etcd::status, false, true, reply -> 0L), deadline);
  }

  @Override
  public Watch watch(WatchRequest request, WatchListener listener) {
    SimulatedWatch watch = new SimulatedWatch(world, etcd, this, current, request, listener);
    if (!closed) {
      watches.add(watch);
      watch.open();
    }
    return watch;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    List.copyOf(watches).forEach(SimulatedWatch::close);
    List.copyOf(pending).forEach(Call::closeSoon);
    etcd.forget(this);
  }

  /** After a call without an answer the next member is asked, once for all calls that failed. */
  void turnFrom(int member, EtcdException failure) {
    if (failure.isUnknown() && current == member) {
      current = (member + 1) % Members.COUNT;
    }
  }

  void forget(SimulatedWatch watch) {
    watches.remove(watch);
  }

  static long bytes(List<KeyValue> keyValues) {
    long bytes = 0;
    for (KeyValue keyValue : keyValues) {
      bytes += keyValue.key().size() + keyValue.value().size();
    }
    return bytes;
  }

  private CompletableFuture<Void> done(Runnable request, Duration deadline) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    var unused =
        call(
                Request.change(() -> {
                  request.run();
                  return true;
                }),
                deadline)
            .whenCompleteAsync(
                (answer, failure) -> {
                  if (failure == null) {
                    result.complete(null);
                  } else {
                    result.completeExceptionally(failure);
                  }
                },
                Runnable::run);
    return result;
  }

  private <T> CompletableFuture<T> call(Request<T> request, Duration deadline) {
    Call<T> call = new Call<>(request, deadline);
    pending.add(call);
    if (closed) {
      call.closeSoon();
    } else {
      call.send();
    }
    return call.result;
  }

  private EtcdException failure(Kind kind, String what) {
    return new EtcdException(kind, "The call of " + owner + " to etcd failed: " + what + ".");
  }

  /**
   * What is asked of a member.
   *
   * @param changes refused under load
   * @param local a member answers by itself, without asking the others
   */
  private record Request<T>(
      IntFunction<T> work, boolean changes, boolean local, ToLongFunction<T> answerBytes) {
    static <T> Request<T> read(Supplier<T> work, ToLongFunction<T> answerBytes) {
      return new Request<>(member -> work.get(), false, false, answerBytes);
    }

    static <T> Request<T> change(Supplier<T> work) {
      return new Request<>(member -> work.get(), true, false, reply -> 0L);
    }
  }

  /** A request on its way, and the one who waits for its answer until the deadline. */
  private final class Call<T> {
    private final int member = current;
    private final Request<T> request;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final Event deadline;
    private boolean over;

    Call(Request<T> request, Duration deadline) {
      this.request = request;
      this.deadline =
          world.at(
              world.nanoTime() + Math.max(0, deadline.toNanos()),
              () -> fail(failure(Kind.UNKNOWN_OUTCOME, "no answer from member " + member)));
      etcd.happened(Happening.CALL);
    }

    void send() {
      if (!link.passes(Way.REQUESTS)) {
        etcd.happened(Happening.REQUEST_LOST);
        link.hold(this::arrive);
      } else if (faults.losesRequest()) {
        etcd.happened(Happening.REQUEST_LOST);
      } else {
        var unused = world.at(world.nanoTime() + faults.arrivalNanos(), this::arrive);
      }
    }

    void closeSoon() {
      var unused =
          world.at(world.nanoTime(), () -> fail(failure(Kind.CLOSED, "the client is closed")));
    }

    private void arrive() {
      if (etcd.members().isHanging(member)) {
        etcd.members().holdAt(member, this::arrive);
      } else if (request.local() || etcd.members().isLed(member)) {
        carryOut();
      } else {
        arriveWithoutLeader();
      }
    }

    /** The member may know it already, or wait, or forget what it had passed on. */
    private void arriveWithoutLeader() {
      switch (world.random().nextInt(3)) {
        case 0 -> answer(() -> fail(failure(Kind.UNAVAILABLE, "etcd has no leader")));
        case 1 -> etcd.happened(Happening.REQUEST_LOST);
        default -> {
          if (etcd.members().isIsolated(member)) {
            etcd.members().holdAt(member, this::arrive);
          } else {
            etcd.members().holdUntilLed(this::arrive);
          }
        }
      }
    }

    private void carryOut() {
      if (request.changes() && faults.refuses()) {
        etcd.happened(Happening.TOO_MANY_REQUESTS);
        answer(() -> fail(failure(Kind.TOO_MANY_REQUESTS, "too many requests")));
        return;
      }
      long before = etcd.revision();
      try {
        T answer = request.work().apply(member);
        boolean fits = request.answerBytes().applyAsLong(answer) <= MAX_ANSWER_BYTES;
        answer(() -> {
          if (fits) {
            succeed(answer);
          } else {
            fail(failure(Kind.TOO_LARGE, "the answer is longer than " + MAX_ANSWER_BYTES));
          }
        });
      } catch (EtcdException refusal) {
        answer(() -> fail(refusal));
      }
      if (over && etcd.revision() > before) {
        etcd.happened(Happening.LATE_APPLICATION);
      }
    }

    private void answer(Runnable word) {
      if (over) {
        return;
      }
      if (!link.passes(Way.ANSWERS)) {
        etcd.happened(Happening.ANSWER_LOST);
        link.hold(word);
      } else if (faults.losesAnswer()) {
        etcd.happened(Happening.ANSWER_LOST);
      } else {
        var unused = world.at(world.nanoTime() + faults.delayNanos(), word);
      }
    }

    private void succeed(T answer) {
      if (!over) {
        end();
        result.complete(answer);
      }
    }

    private void fail(EtcdException failure) {
      if (!over) {
        end();
        switch (failure.kind()) {
          case UNKNOWN_OUTCOME -> etcd.happened(Happening.UNKNOWN_OUTCOME);
          case UNAVAILABLE -> etcd.happened(Happening.UNAVAILABLE);
          case COMPACTED -> etcd.happened(Happening.COMPACTED);
          default -> {}
        }
        turnFrom(member, failure);
        result.completeExceptionally(failure);
      }
    }

    private void end() {
      over = true;
      deadline.cancel();
      pending.remove(this);
    }
  }
}
