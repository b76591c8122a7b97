package dev.baton.worker;

import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.Pong;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TermStarted;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkflowServiceGrpc;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A scheduler node of a test: a real gRPC server that says what the test wants. */
public final class FakeScheduler implements AutoCloseable {
  private static final long GENERATION = 99;

  private final int port;
  private final List<WorkerMessage> heard = new CopyOnWriteArrayList<>();
  private Server server;
  private volatile @Nullable StreamObserver<SchedulerMessage> out;
  private volatile String incarnation = "";
  private volatile long term;
  private volatile boolean answersPings = true;
  private volatile int streams;

  /** A node on any free port that does not lead. */
  public FakeScheduler() throws IOException {
    this(0);
  }

  public FakeScheduler(int port) throws IOException {
    server = open(port);
    this.port = server.getPort();
  }

  public String address() {
    return "127.0.0.1:" + port;
  }

  public int port() {
    return port;
  }

  /** From now on it leads: it greets the stream that is there, and those that come. */
  public void lead(long newTerm) {
    term = newTerm;
    say(SchedulerMessage.newBuilder().setTermStarted(TermStarted.getDefaultInstance()));
  }

  public void stopAnsweringPings() {
    answersPings = false;
  }

  public void answerPings() {
    answersPings = true;
  }

  /** Streams that were opened so far. */
  public int streams() {
    return streams;
  }

  public String incarnation() {
    return incarnation;
  }

  public synchronized void say(SchedulerMessage.Builder message) {
    StreamObserver<SchedulerMessage> to = out;
    if (to != null) {
      to.onNext(
          message.setGeneration(GENERATION).setTerm(term).setIncarnation(incarnation).build());
    }
  }

  public void assign(TaskAssignment... assignments) {
    say(SchedulerMessage.newBuilder().addAllAssignments(List.of(assignments)));
  }

  public void ack(TaskResult result) {
    say(
        SchedulerMessage.newBuilder()
            .addAcks(
                ResultAck.newBuilder()
                    .setVerdict(ResultAck.Verdict.ACCEPTED)
                    .setAttempt(
                        AttemptName.newBuilder()
                            .setRunId(result.getRunId())
                            .setTaskId(result.getTaskId())
                            .setAttempt(result.getAttempt()))));
  }

  /** Ends the stream with an error. */
  public synchronized void breakStream() {
    StreamObserver<SchedulerMessage> to = out;
    out = null;
    if (to != null) {
      to.onError(Status.UNAVAILABLE.withDescription("the test broke it").asRuntimeException());
    }
  }

  public void stop() throws InterruptedException {
    out = null;
    server.shutdownNow();
    server.awaitTermination();
  }

  public void start() throws IOException {
    server = open(port);
  }

  public List<WorkerMessage> heard() {
    return heard;
  }

  /** Waits for a message, from the first one on. */
  public WorkerMessage await(Predicate<WorkerMessage> wanted) {
    until(() -> find(wanted).isPresent());
    return find(wanted).orElseThrow();
  }

  /** Waits for the result of a task. */
  public TaskResult awaitResult(String taskId) {
    return await(message -> result(message, taskId).isPresent()).getResultsList().stream()
        .filter(result -> result.getTaskId().equals(taskId))
        .findFirst()
        .orElseThrow();
  }

  public void forget() {
    heard.clear();
  }

  @Override
  public void close() {
    out = null;
    server.shutdownNow();
  }

  public static TaskAssignment.Builder task(String taskId, String type) {
    return TaskAssignment.newBuilder()
        .setWorkflowId("run")
        .setTaskId(taskId)
        .setAttempt(1)
        .setTaskType(type)
        .setIdempotencyKey("run/" + taskId);
  }

  private Optional<WorkerMessage> find(Predicate<WorkerMessage> wanted) {
    return heard.stream().filter(wanted).findFirst();
  }

  private static Optional<TaskResult> result(WorkerMessage message, String taskId) {
    return message.getResultsList().stream()
        .filter(result -> result.getTaskId().equals(taskId))
        .findFirst();
  }

  private static void until(Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(15))
        .pollInterval(Duration.ofMillis(10))
        .until(condition);
  }

  private Server open(int port) throws IOException {
    return NettyServerBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .addService(new Service())
        .build()
        .start();
  }

  private final class Service extends WorkflowServiceGrpc.WorkflowServiceImplBase {
    @Override
    public StreamObserver<WorkerMessage> assignTask(StreamObserver<SchedulerMessage> responses) {
      synchronized (FakeScheduler.this) {
        out = responses;
        streams++;
      }
      return new StreamObserver<>() {
        @Override
        public void onNext(WorkerMessage message) {
          hear(responses, message);
        }

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
      };
    }
  }

  private synchronized void hear(
      StreamObserver<SchedulerMessage> responses, WorkerMessage message) {
    if (!responses.equals(out)) {
      return;
    }
    if (message.hasHello()) {
      incarnation = message.getIncarnation();
      if (term > 0) {
        say(SchedulerMessage.newBuilder().setTermStarted(TermStarted.getDefaultInstance()));
      }
    }
    if (message.hasPing() && answersPings) {
      responses.onNext(
          SchedulerMessage.newBuilder()
              .setPong(Pong.newBuilder().setNonce(message.getPing().getNonce()))
              .setPing(Ping.newBuilder().setNonce(message.getPing().getNonce()))
              .build());
    }
    heard.add(message);
  }
}
