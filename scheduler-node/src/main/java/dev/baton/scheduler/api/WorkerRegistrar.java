package dev.baton.scheduler.api;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Answer;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.v1.DeregisterRequest;
import dev.baton.proto.v1.DeregisterResponse;
import dev.baton.proto.v1.HeartbeatRequest;
import dev.baton.proto.v1.HeartbeatResponse;
import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.RegisterResponse;
import dev.baton.proto.v1.SchedulerAddress;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.loop.WorkerPorts;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers workers that have no way to etcd: it writes the key that a worker with one writes
 * itself, under a lease that any node can renew. Nothing of it is kept here, so no worker notices
 * when the node dies that registered it.
 *
 * <p>Never blocks; goes on with each answer of etcd on its strand.
 */
public final class WorkerRegistrar {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerRegistrar.class);
  static final Duration TTL = Duration.ofSeconds(10);
  static final Duration HEARTBEAT_EVERY = Duration.ofSeconds(3);

  private static final Duration CALL = Duration.ofSeconds(2);
  private static final Duration ASK_AGAIN_AFTER = Duration.ofMillis(500);

  /** The key can change between two looks; more often than this it does not by chance. */
  private static final int LOOKS = 4;

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;
  private final WorkerPorts ports;
  private final Supplier<List<SchedulerAddress>> schedulers;

  /**
   * @param ports asks whether the process that holds an id is there
   * @param schedulers the nodes that workers are to keep streams to; called on the strand
   */
  public WorkerRegistrar(
      Etcd etcd,
      Keys keys,
      Strand strand,
      WorkerPorts ports,
      Supplier<List<SchedulerAddress>> schedulers) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
    this.ports = ports;
    this.schedulers = schedulers;
  }

  public void register(RegisterRequest request, StreamObserver<RegisterResponse> caller) {
    WorkerRecord record;
    try {
      record = Registrations.judge(request);
    } catch (RefusedException e) {
      caller.onError(Refusals.exception(e.refusal()));
      return;
    }
    strand.execute(() -> new Registering(record, caller).look());
  }

  public void heartbeat(HeartbeatRequest request, StreamObserver<HeartbeatResponse> caller) {
    withOwn(
        request.getWorkerId(),
        request.getIncarnation(),
        caller,
        own ->
            call(
                etcd.renew(own.leaseId(), CALL),
                caller,
                ttl -> {
                  if (ttl.isPresent()) {
                    answer(
                        caller,
                        HeartbeatResponse.newBuilder()
                            .setOk(true)
                            .setLeaseSec((int) ttl.get().toSeconds())
                            .setLeaseId(own.leaseId())
                            .addAllSchedulers(schedulers.get())
                            .build());
                  } else {
                    answer(caller, notRegistered("its lease has run out"));
                  }
                }),
        why -> answer(caller, notRegistered(why)));
  }

  private static HeartbeatResponse notRegistered(String why) {
    return HeartbeatResponse.newBuilder()
        .setMessage("This process is not registered (" + why + "): call Register.")
        .build();
  }

  public void deregister(DeregisterRequest request, StreamObserver<DeregisterResponse> caller) {
    DeregisterResponse done = DeregisterResponse.getDefaultInstance();
    withOwn(
        request.getWorkerId(),
        request.getIncarnation(),
        caller,
        own -> call(etcd.revoke(own.leaseId(), CALL), caller, revoked -> answer(caller, done)),
        why -> answer(caller, done));
  }

  /** Looks for the key of this very process; if there is none, tells why. */
  private <T> void withOwn(
      String workerId,
      String incarnation,
      StreamObserver<T> caller,
      Consumer<KeyValue> own,
      Consumer<String> none) {
    try {
      Fields.workerId("worker_id", workerId);
      Fields.workerId("incarnation", incarnation);
    } catch (RefusedException e) {
      caller.onError(Refusals.exception(e.refusal()));
      return;
    }
    call(
        etcd.get(keys.worker(workerId), CALL),
        caller,
        reply -> {
          KeyValue found = reply.keyValue();
          String now = found == null ? "" : holder(found).getIncarnation();
          if (found == null) {
            none.accept("there is no worker '" + workerId + "'");
          } else if (now.equals(incarnation)) {
            own.accept(found);
          } else {
            none.accept("'" + workerId + "' is incarnation " + now);
          }
        });
  }

  private <T, A> void call(CompletableFuture<A> asked, StreamObserver<T> caller, Consumer<A> then) {
    Answer.of(asked, strand, then, failure -> refuse(caller, Refusals.noEtcd(failure)));
  }

  private static <T> void answer(StreamObserver<T> caller, T value) {
    caller.onNext(value);
    caller.onCompleted();
  }

  private static void refuse(StreamObserver<?> caller, Refusal refusal) {
    caller.onError(Refusals.exception(refusal));
  }

  private static WorkerRecord holder(KeyValue found) {
    try {
      return WorkerRecord.parseFrom(found.value());
    } catch (InvalidProtocolBufferException e) {
      return WorkerRecord.getDefaultInstance();
    }
  }

  /** One registration under way. */
  private final class Registering {
    private final WorkerRecord record;
    private final ByteString key;
    private final ByteString value;
    private final StreamObserver<RegisterResponse> caller;
    private int looks;

    Registering(WorkerRecord record, StreamObserver<RegisterResponse> caller) {
      this.record = record;
      this.key = keys.worker(record.getWorkerId());
      this.value = record.toByteString();
      this.caller = caller;
    }

    void look() {
      if (looks++ >= LOOKS) {
        refuse(caller, again("the registration of " + who() + " keeps changing"));
        return;
      }
      call(
          etcd.get(key, CALL),
          caller,
          reply -> {
            if (reply.keyValue() == null) {
              call(etcd.grant(TTL, CALL), caller, this::create);
            } else {
              found(reply.keyValue());
            }
          });
    }

    private void create(Etcd.Lease lease) {
      call(
          etcd.txn(
              new Txn(
                  List.of(new Compare.CreateRevision(key, 0)),
                  List.of(new Op.Put(key, value, lease.id())),
                  List.of(new Op.Get(key))),
              CALL),
          caller,
          reply -> {
            if (reply.succeeded()) {
              LOG.info(
                  "Worker {} (incarnation {}) has registered through this node",
                  record.getWorkerId(),
                  record.getIncarnation());
              accept(lease.id(), lease.ttl());
            } else {
              // Nobody waits for it: one that can't be ended ends by itself.
              var unused = etcd.revoke(lease.id(), CALL);
              reply.find(key).ifPresentOrElse(this::found, this::look);
            }
          });
    }

    private void found(KeyValue found) {
      WorkerRecord holder = holder(found);
      if (!holder.getIncarnation().equals(record.getIncarnation())) {
        taken(holder);
        return;
      }
      call(
          etcd.renew(found.leaseId(), CALL),
          caller,
          ttl -> {
            if (ttl.isEmpty()) {
              look();
            } else if (found.value().equals(value)) {
              accept(found.leaseId(), ttl.get());
            } else {
              rewrite(found, ttl.get());
            }
          });
    }

    private void rewrite(KeyValue found, Duration ttl) {
      Answer.of(
          etcd.txn(
              new Txn(
                  List.of(new Compare.ModRevision(key, found.modRevision())),
                  List.of(new Op.Put(key, value, found.leaseId())),
                  List.of(new Op.Get(key))),
              CALL),
          strand,
          reply -> {
            if (reply.succeeded()) {
              accept(found.leaseId(), ttl);
            } else {
              look();
            }
          },
          failure -> {
            if (failure.kind() == Kind.LEASE_NOT_FOUND) {
              look();
            } else {
              refuse(caller, Refusals.noEtcd(failure));
            }
          });
    }

    private void accept(long leaseId, Duration ttl) {
      answer(
          caller,
          RegisterResponse.newBuilder()
              .setAccepted(true)
              .setHeartbeatIntervalSec((int) HEARTBEAT_EVERY.toSeconds())
              .setLeaseSec((int) ttl.toSeconds())
              .setLeaseId(leaseId)
              .addAllSchedulers(schedulers.get())
              .build());
    }

    /** A process that answers keeps its id; one that does not is left to its lease. */
    private void taken(WorkerRecord holder) {
      String address = Registrations.address(holder);
      BiConsumer<Boolean, Throwable> judge =
          (isThere, failure) -> {
            String held =
                who()
                    + " is held by incarnation "
                    + holder.getIncarnation()
                    + (address.isEmpty() ? " without a port" : " at " + address);
            if (failure == null && isThere) {
              answer(
                  caller,
                  RegisterResponse.newBuilder()
                      .setMessage(
                          "The "
                              + held
                              + ", which answers there: stop that process, or choose another id.")
                      .build());
            } else {
              refuse(
                  caller, again("The " + held + ", which does not answer: its lease may run out"));
            }
          };
      if (address.isEmpty()) {
        judge.accept(false, null);
      } else {
        var unused =
            ports.answers(address, holder.getIncarnation()).whenCompleteAsync(judge, strand);
      }
    }

    private String who() {
      return "worker id '" + record.getWorkerId() + "'";
    }

    private Refusal again(String why) {
      return new Refusal(RefusalCode.NOT_READY, why + ". Call again.", ASK_AGAIN_AFTER);
    }
  }
}
