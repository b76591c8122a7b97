package dev.baton.scheduler;

import dev.baton.proto.v1.Inventory;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerHello;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkflowServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A worker that does nothing, and succeeds with it at once. */
final class RehearsalWorker implements ClientResponseObserver<WorkerMessage, SchedulerMessage> {
  private final WorkerMessage header;
  private final CountDownLatch ended;
  private @Nullable ClientCallStreamObserver<WorkerMessage> wire;

  private RehearsalWorker(WorkerMessage header, CountDownLatch ended) {
    this.header = header;
    this.ended = ended;
  }

  /**
   * @param ended counts results that were acknowledged
   */
  static void open(ManagedChannel channel, String id, long generation, CountDownLatch ended) {
    WorkerMessage header =
        WorkerMessage.newBuilder().setGeneration(generation).setIncarnation(id).build();
    RehearsalWorker worker = new RehearsalWorker(header, ended);
    var unused = WorkflowServiceGrpc.newStub(channel).assignTask(worker);
    worker.say(
        header.toBuilder()
            .setHello(WorkerHello.newBuilder().setWorkerId(id).setProtocolVersion(1)));
  }

  private void say(WorkerMessage.Builder message) {
    Objects.requireNonNull(wire).onNext(message.build());
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<WorkerMessage> wire) {
    this.wire = wire;
  }

  @Override
  public void onNext(SchedulerMessage message) {
    if (message.hasPing()) {
      say(header.toBuilder().setPong(Pong.newBuilder().setNonce(message.getPing().getNonce())));
      return;
    }
    WorkerMessage.Builder answer = header.toBuilder().setTerm(message.getTerm());
    if (message.hasTermStarted() || message.hasInventoryRequest()) {
      answer.setInventory(Inventory.getDefaultInstance());
    }
    message.getAssignmentsList().forEach(assignment -> answer.addResults(success(assignment)));
    if (answer.hasInventory() || answer.getResultsCount() > 0) {
      say(answer);
    }
    for (int i = 0; i < message.getAcksCount(); i++) {
      ended.countDown();
    }
  }

  private static TaskResult success(TaskAssignment assignment) {
    return TaskResult.newBuilder()
        .setRunId(assignment.getWorkflowId())
        .setTaskId(assignment.getTaskId())
        .setAttempt(assignment.getAttempt())
        .setStatus(TaskResult.Status.SUCCESS)
        .setOutputJson("1")
        .build();
  }

  @Override
  public void onError(Throwable failure) {}

  @Override
  public void onCompleted() {}
}
