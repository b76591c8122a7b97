package dev.baton.scheduler.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.DeregisterRequest;
import dev.baton.proto.v1.DeregisterResponse;
import dev.baton.proto.v1.HeartbeatRequest;
import dev.baton.proto.v1.HeartbeatResponse;
import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.RegisterResponse;
import dev.baton.proto.v1.SchedulerAddress;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.loop.WorkerPorts;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Registrations that nodes keep for workers, on a real etcd. */
class WorkerRegistrarTest extends RealEtcd {
  private static final SchedulerAddress NODE =
      SchedulerAddress.newBuilder().setNodeId("n1").setAddress("127.0.0.1:1").build();

  /** Who answers where: {@code host:port/incarnation}. */
  private final Set<String> answering = new HashSet<>();

  WorkerRegistrarTest() {
    super(1);
  }

  /** One of any number of nodes: they share nothing but etcd. */
  private WorkerRegistrar node() {
    return new WorkerRegistrar(
        etcd,
        keys,
        strand,
        new WorkerPorts() {
          @Override
          public CompletableFuture<Boolean> answers(String address, String incarnation) {
            return CompletableFuture.completedFuture(
                answering.contains(address + "/" + incarnation));
          }

          @Override
          public CompletableFuture<Boolean> isRefused(String address) {
            return CompletableFuture.failedFuture(new IllegalStateException("Nobody asks"));
          }
        },
        () -> List.of(NODE));
  }

  private static RegisterRequest.Builder worker(String incarnation) {
    return RegisterRequest.newBuilder()
        .setWorkerId("w")
        .setIncarnation(incarnation)
        .setHost("h")
        .setPort(8080)
        .addCapabilities("text_process")
        .setMaxConcurrency(4)
        .putLabels("zone", "a")
        .setVersion("py-1");
  }

  private RegisterResponse register(RegisterRequest.Builder request) {
    return call(request.build(), node()::register);
  }

  private HeartbeatResponse heartbeat(String incarnation) {
    return call(
        HeartbeatRequest.newBuilder().setWorkerId("w").setIncarnation(incarnation).build(),
        node()::heartbeat);
  }

  private void deregister(String incarnation) {
    DeregisterResponse unused =
        call(
            DeregisterRequest.newBuilder().setWorkerId("w").setIncarnation(incarnation).build(),
            node()::deregister);
  }

  private static <Q, A> A call(Q request, BiConsumer<Q, StreamObserver<A>> method) {
    CompletableFuture<A> answer = new CompletableFuture<>();
    method.accept(
        request,
        new StreamObserver<>() {
          @Override
          public void onNext(A value) {
            answer.complete(value);
          }

          @Override
          public void onError(Throwable failure) {
            answer.completeExceptionally(failure);
          }

          @Override
          public void onCompleted() {}
        });
    return await(answer);
  }

  private @Nullable KeyValue stored() {
    return await(etcd.get(keys.worker("w"), SOON)).keyValue();
  }

  private KeyValue key() {
    return Objects.requireNonNull(stored(), "it is registered");
  }

  private WorkerRecord record() {
    try {
      return WorkerRecord.parseFrom(key().value());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
  }

  private static StatusRuntimeException refused(Runnable call) {
    CompletionException failed = assertThrows(CompletionException.class, call::run);
    return assertInstanceOf(StatusRuntimeException.class, failed.getCause());
  }

  private void assertInvalid(String sentence, RegisterRequest.Builder request) {
    StatusRuntimeException refusal = refused(() -> register(request));
    assertEquals(Status.Code.INVALID_ARGUMENT, refusal.getStatus().getCode());
    assertEquals(sentence, refusal.getStatus().getDescription());
    assertNull(stored());
  }

  @Test
  void shouldWriteWhatAWorkerWithEtcdWritesItself() {
    RegisterResponse answer = register(worker("i1"));
    assertTrue(answer.getAccepted(), answer.getMessage());
    assertEquals(3, answer.getHeartbeatIntervalSec());
    assertEquals(10, answer.getLeaseSec());
    assertEquals(List.of(NODE), answer.getSchedulersList());
    assertEquals(
        WorkerRecord.newBuilder()
            .setWorkerId("w")
            .setIncarnation("i1")
            .setHost("h")
            .setPort(8080)
            .addCapabilities("text_process")
            .setSlots(4)
            .putLabels("zone", "a")
            .setVersion("py-1")
            .build(),
        record());
    assertEquals(answer.getLeaseId(), key().leaseId());
  }

  @Test
  void shouldBringARegistrationToWhatIsSaidLast() {
    RegisterResponse first = register(worker("i1"));
    long created = key().createRevision();
    RegisterResponse again = register(worker("i1"));
    RegisterResponse draining = register(worker("i1").setMaxConcurrency(0));
    assertTrue(again.getAccepted() && draining.getAccepted());
    assertEquals(first.getLeaseId(), draining.getLeaseId());
    assertEquals(0, record().getSlots());
    assertEquals(created, key().createRevision(), "it was there all the time");
  }

  @Test
  void shouldRenewAtAnyNodeWhatAnotherHasGranted() {
    RegisterResponse registered = register(worker("i1"));
    HeartbeatResponse renewed = heartbeat("i1");
    assertTrue(renewed.getOk(), renewed.getMessage());
    assertEquals(registered.getLeaseId(), renewed.getLeaseId());
    assertEquals(10, renewed.getLeaseSec());
    assertEquals(List.of(NODE), renewed.getSchedulersList());
  }

  @Test
  void shouldTellAWorkerThatItIsNotRegistered() {
    assertEquals(
        "This process is not registered (there is no worker 'w'): call Register.",
        heartbeat("i1").getMessage());
    RegisterResponse first = register(worker("i1"));
    HeartbeatResponse other = heartbeat("i2");
    assertFalse(other.getOk());
    assertEquals(
        "This process is not registered ('w' is incarnation i1): call Register.",
        other.getMessage());
    await(etcd.revoke(first.getLeaseId(), SOON));
    assertFalse(heartbeat("i1").getOk());
    RegisterResponse second = register(worker("i1"));
    assertTrue(second.getAccepted());
    assertNotEquals(first.getLeaseId(), second.getLeaseId());
  }

  @Test
  void shouldLeaveAnIdToAProcessThatAnswersAndMakeOthersWaitForTheEndOfItsLease() {
    register(worker("i1"));
    StatusRuntimeException waiting = refused(() -> register(worker("i2")));
    assertEquals(Status.Code.UNAVAILABLE, waiting.getStatus().getCode());
    assertEquals(
        "The worker id 'w' is held by incarnation i1 at h:8080, which does not answer: its lease"
            + " may run out. Call again.",
        waiting.getStatus().getDescription());
    assertTrue(
        Objects.requireNonNull(StatusProto.fromThrowable(waiting)).getDetailsList().stream()
            .anyMatch(detail -> detail.is(RetryInfo.class)));
    answering.add("h:8080/i1");
    RegisterResponse refused = register(worker("i2"));
    assertFalse(refused.getAccepted());
    assertEquals(
        "The worker id 'w' is held by incarnation i1 at h:8080, which answers there: stop that"
            + " process, or choose another id.",
        refused.getMessage());
    assertEquals("i1", record().getIncarnation());
    deregister("i1");
    assertTrue(register(worker("i2")).getAccepted());
  }

  @Test
  void shouldSayThatAProcessWithoutAPortCannotBeAsked() {
    register(worker("i1").setPort(0));
    StatusRuntimeException waiting = refused(() -> register(worker("i2")));
    assertEquals(
        "The worker id 'w' is held by incarnation i1 without a port, which does not answer: its"
            + " lease may run out. Call again.",
        waiting.getStatus().getDescription());
  }

  @Test
  void shouldEndOnlyTheRegistrationOfTheProcessThatLeaves() {
    deregister("i1");
    register(worker("i2"));
    deregister("i1");
    assertEquals("i2", record().getIncarnation());
    deregister("i2");
    assertNull(stored());
  }

  /** Repeated calls through several nodes at once: one key, one lease, the same answer. */
  @Test
  void shouldMakeOneRegistrationOfCallsAtOnce() {
    List<CompletableFuture<RegisterResponse>> calls = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      calls.add(
          CompletableFuture.supplyAsync(
              () -> register(worker("i1")), task -> Thread.ofVirtual().start(task)));
    }
    Set<Long> leases = new HashSet<>();
    calls.forEach(call -> leases.add(await(call).getLeaseId()));
    assertEquals(Set.of(key().leaseId()), leases);
  }

  @Test
  void shouldSayThatEtcdDoesNotAnswer() {
    register(worker("i1"));
    freeze();
    StatusRuntimeException silent = refused(() -> heartbeat("i1"));
    thaw();
    assertEquals(Status.Code.UNAVAILABLE, silent.getStatus().getCode());
    assertEquals(
        "etcd did not answer this node in time: try again.", silent.getStatus().getDescription());
  }

  @Test
  void shouldRefuseWhatNoWorkerIs() {
    assertInvalid(
        "Expected worker_id to be 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', but got 'a/b'.",
        worker("i1").setWorkerId("a/b"));
    assertInvalid(
        "Expected incarnation to be 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', but got ''.",
        worker(""));
    assertInvalid(
        "Expected max_concurrency to be 0 to 4096, but got 4097.",
        worker("i1").setMaxConcurrency(4_097));
    assertInvalid("Expected port to be 0 to 65535, but got -1.", worker("i1").setPort(-1));
    assertInvalid("Expected host to say where port is, but it is empty.", worker("i1").setHost(""));
    assertInvalid(
        "Expected the number of capabilities to be 1 to 256, but got 0.",
        worker("i1").clearCapabilities());
    assertInvalid(
        "Expected each capability to be 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', but got 'no"
            + " spaces'.",
        worker("i1").addCapabilities("no spaces"));
    assertInvalid(
        "Expected the value of each label to have at most 128 characters, but it has 129.",
        worker("i1").putLabels("gpu", "x".repeat(129)));
    assertInvalid(
        "Expected version to have at most 64 characters, but it has 65.",
        worker("i1").setVersion("v".repeat(65)));
  }
}
