package dev.baton.scheduler.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.Ping;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.scheduler.model.WorkerLife;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkerStreamTest {
  private final Transport transport = new Transport();
  private final WorkerStream stream =
      new WorkerStream(
          new WorkerLife("w", "1"),
          transport,
          SchedulerMessage.newBuilder().setNodeId("n").build());

  @Test
  void shouldSendAtOnceWhatTheTransportTakes() {
    assign("a");
    assertEquals(List.of("a"), transport.assigned());
  }

  @Test
  void shouldKeepTheOrderOfWhatWaited() {
    transport.ready = false;
    assign("a");
    stream.sayNow(SchedulerMessage.newBuilder().setPing(Ping.newBuilder().setNonce(7)));
    transport.ready = true;
    assign("b");
    assertEquals(List.of(), transport.sent, "what is older goes first");
    stream.drain(assignment -> true);
    assertEquals(List.of("a", "b"), transport.assigned());
    assertEquals(7, transport.sent.get(1).getPing().getNonce());
  }

  @Test
  void shouldNotSendAnAssignmentThatDoesNotHoldAnyMore() {
    transport.ready = false;
    ResultAck ack =
        ResultAck.newBuilder().setAttempt(AttemptName.newBuilder().setTaskId("x")).build();
    stream
        .gather(1, 0)
        .addAssignments(assignment("a"))
        .addAssignments(assignment("b"))
        .addAcks(ack);
    stream.flush();
    transport.ready = true;
    stream.drain(assignment -> assignment.getTaskId().equals("b"));
    assertEquals(List.of("b"), transport.assigned());
    assertEquals(List.of(ack), transport.sent.getFirst().getAcksList());
    assertEquals(1, transport.sent.getFirst().getTerm());
  }

  @Test
  void shouldNotSendWhatWaitedWhenTheTermIsOver() {
    transport.ready = false;
    assign("a");
    stream.forget();
    transport.ready = true;
    stream.drain(assignment -> true);
    assertEquals(List.of(), transport.sent);
  }

  private void assign(String task) {
    stream.gather(1, 0).addAssignments(assignment(task));
    stream.flush();
  }

  private static TaskAssignment assignment(String task) {
    return TaskAssignment.newBuilder().setTaskId(task).build();
  }

  /** A transport that takes more when it is told to, as one does whose peer reads slowly. */
  private static final class Transport extends ServerCallStreamObserver<SchedulerMessage> {
    final List<SchedulerMessage> sent = new ArrayList<>();
    boolean ready = true;

    List<String> assigned() {
      return sent.stream()
          .flatMap(message -> message.getAssignmentsList().stream())
          .map(TaskAssignment::getTaskId)
          .toList();
    }

    @Override
    public boolean isReady() {
      return ready;
    }

    @Override
    public void onNext(SchedulerMessage message) {
      sent.add(message);
    }

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void setOnCancelHandler(Runnable handler) {}

    @Override
    public void setCompression(String compression) {}

    @Override
    public void setOnReadyHandler(Runnable handler) {}

    @Override
    public void request(int count) {}

    @Override
    public void setMessageCompression(boolean enable) {}

    @Override
    public void disableAutoInboundFlowControl() {}
  }
}
