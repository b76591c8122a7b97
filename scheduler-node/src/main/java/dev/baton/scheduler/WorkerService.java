package dev.baton.scheduler;

import dev.baton.proto.v1.DeregisterRequest;
import dev.baton.proto.v1.DeregisterResponse;
import dev.baton.proto.v1.HeartbeatRequest;
import dev.baton.proto.v1.HeartbeatResponse;
import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.RegisterResponse;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkflowServiceGrpc;
import dev.baton.scheduler.api.WorkerRegistrar;
import dev.baton.scheduler.dispatch.WorkerStreams;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;

/** What workers call. */
public final class WorkerService extends WorkflowServiceGrpc.WorkflowServiceImplBase {
  private final WorkerStreams streams;
  private final WorkerRegistrar registrar;

  public WorkerService(WorkerStreams streams, WorkerRegistrar registrar) {
    this.streams = streams;
    this.registrar = registrar;
  }

  @Override
  public StreamObserver<WorkerMessage> assignTask(StreamObserver<SchedulerMessage> answers) {
    return streams.open((ServerCallStreamObserver<SchedulerMessage>) answers);
  }

  @Override
  public void register(RegisterRequest request, StreamObserver<RegisterResponse> caller) {
    mayLeave(caller);
    registrar.register(request, caller);
  }

  @Override
  public void heartbeat(HeartbeatRequest request, StreamObserver<HeartbeatResponse> caller) {
    mayLeave(caller);
    registrar.heartbeat(request, caller);
  }

  @Override
  public void deregister(DeregisterRequest request, StreamObserver<DeregisterResponse> caller) {
    mayLeave(caller);
    registrar.deregister(request, caller);
  }

  /** What is answered to a caller that has gone is dropped; without this it is an exception. */
  private static void mayLeave(StreamObserver<?> caller) {
    ((ServerCallStreamObserver<?>) caller).setOnCancelHandler(() -> {});
  }
}
