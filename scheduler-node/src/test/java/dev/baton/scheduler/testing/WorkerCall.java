package dev.baton.scheduler.testing;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.Inventory;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerHello;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkflowServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A worker's stream to one node, over a real channel, with the test for the worker. */
public final class WorkerCall implements ClientResponseObserver<WorkerMessage, SchedulerMessage> {
  public final String workerId;
  public final String incarnation;

  /** What came, but for pings. */
  public final List<SchedulerMessage> messages = new CopyOnWriteArrayList<>();

  public final List<SchedulerMessage> pings = new CopyOnWriteArrayList<>();

  /** How the stream ended. */
  public final CompletableFuture<Status> ended = new CompletableFuture<>();

  private final boolean reads;
  private @Nullable ClientCallStreamObserver<WorkerMessage> wire;
  private volatile @Nullable Function<TaskAssignment, TaskResult> handler;
  private volatile boolean answers = true;

  /**
   * @param reads false: it takes nothing from the transport until {@link #read}
   */
  public WorkerCall(ManagedChannel channel, String workerId, String incarnation, boolean reads) {
    this.workerId = workerId;
    this.incarnation = incarnation;
    this.reads = reads;
    var unused = WorkflowServiceGrpc.newStub(channel).assignTask(this);
  }

  /** A stream that says hello, and answers pings and greetings. */
  public static WorkerCall open(WiredNode node, String workerId, String incarnation) {
    WorkerCall call = new WorkerCall(node.channel(), workerId, incarnation, true);
    call.hello();
    return call;
  }

  public void hello() {
    say(message().setHello(WorkerHello.newBuilder().setWorkerId(workerId).setProtocolVersion(1)));
  }

  /** A message of this incarnation and the cluster's generation. */
  public WorkerMessage.Builder message() {
    return WorkerMessage.newBuilder()
        .setGeneration(WiredNode.GENERATION)
        .setIncarnation(incarnation);
  }

  public synchronized void say(WorkerMessage.Builder message) {
    Objects.requireNonNull(wire).onNext(message.build());
  }

  public void say(TaskResult result) {
    say(message().addResults(result));
  }

  public void read(int count) {
    Objects.requireNonNull(wire).request(count);
  }

  public void complete() {
    Objects.requireNonNull(wire).onCompleted();
  }

  public void cancel() {
    Objects.requireNonNull(wire).cancel("The test ends it.", null);
  }

  /** Every assignment is handled at once from now on. */
  public void handle(Function<TaskAssignment, TaskResult> handler) {
    this.handler = handler;
  }

  /** It answers neither pings nor greetings from now on. */
  public void ignore() {
    answers = false;
  }

  public static TaskResult success(TaskAssignment assignment, String output) {
    return TaskResult.newBuilder()
        .setRunId(assignment.getWorkflowId())
        .setTaskId(assignment.getTaskId())
        .setAttempt(assignment.getAttempt())
        .setStatus(TaskResult.Status.SUCCESS)
        .setOutputJson(output)
        .build();
  }

  public List<TaskAssignment> assignments() {
    return messages.stream().flatMap(m -> m.getAssignmentsList().stream()).toList();
  }

  /** The assignment of a task, once it has come. */
  public TaskAssignment awaitAssignment(String taskId) {
    RealEtcd.awaitUntil(
        taskId, () -> assignments().stream().anyMatch(a -> a.getTaskId().equals(taskId)));
    return assignments().stream()
        .filter(a -> a.getTaskId().equals(taskId))
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<WorkerMessage> wire) {
    this.wire = wire;
    if (!reads) {
      wire.disableAutoRequestWithInitial(0);
    }
  }

  @Override
  public void onNext(SchedulerMessage message) {
    if (message.hasPing()) {
      pings.add(message);
      if (answers) {
        say(message().setPong(Pong.newBuilder().setNonce(message.getPing().getNonce())));
      }
      return;
    }
    messages.add(message);
    if (answers && (message.hasTermStarted() || message.hasInventoryRequest())) {
      say(message().setTerm(message.getTerm()).setInventory(Inventory.newBuilder()));
    }
    Function<TaskAssignment, TaskResult> handling = handler;
    if (handling != null && message.getAssignmentsCount() > 0) {
      WorkerMessage.Builder results = message().setTerm(message.getTerm());
      message.getAssignmentsList().forEach(a -> results.addResults(handling.apply(a)));
      say(results);
    }
  }

  @Override
  public void onError(Throwable failure) {
    ended.complete(Status.fromThrowable(failure));
  }

  @Override
  public void onCompleted() {
    ended.complete(Status.OK);
  }

  public static AttemptName name(String run, String task, int attempt) {
    return AttemptName.newBuilder().setRunId(run).setTaskId(task).setAttempt(attempt).build();
  }
}
