package dev.baton.worker.protocol;

import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Keeps what a protocol does. */
final class Recorder implements Outputs {
  record Sent(String node, WorkerMessage message) {}

  final List<Sent> sent = new ArrayList<>();
  final List<AttemptId> started = new ArrayList<>();
  final List<AttemptId> cancelled = new ArrayList<>();
  final List<String> closed = new ArrayList<>();
  final List<Drop> drops = new ArrayList<>();
  final Set<String> full = new HashSet<>();

  /** Of the registration. */
  long lease = 1;

  int drains;

  /** How many messages a stream takes before it is not ready any more. */
  int room = Integer.MAX_VALUE;

  @Override
  public boolean ready(String node) {
    return room > 0 && !full.contains(node);
  }

  @Override
  public void send(String node, WorkerMessage message) {
    room--;
    sent.add(new Sent(node, message));
  }

  @Override
  public void close(String node, String reason) {
    closed.add(node);
  }

  @Override
  public long lease() {
    return lease;
  }

  @Override
  public void start(TaskAssignment assignment) {
    started.add(AttemptId.of(assignment));
  }

  @Override
  public void cancel(AttemptId attempt, String reason) {
    cancelled.add(attempt);
  }

  @Override
  public void drain() {
    drains++;
  }

  @Override
  public void dropped(String node, Drop why) {
    drops.add(why);
  }

  /** What was sent to a node since the last call, without hellos and pings. */
  List<WorkerMessage> take(String node) {
    List<WorkerMessage> taken =
        sent.stream()
            .filter(entry -> entry.node().equals(node))
            .map(Sent::message)
            .filter(message -> !message.hasHello() && !message.hasPing())
            .toList();
    sent.clear();
    return taken;
  }

  List<AttemptId> resultsTo(String node) {
    return take(node).stream()
        .flatMap(message -> message.getResultsList().stream())
        .map(AttemptId::of)
        .toList();
  }

  static TaskResult success(AttemptId id, String output) {
    return TaskResult.newBuilder()
        .setRunId(id.runId())
        .setTaskId(id.taskId())
        .setAttempt(id.attempt())
        .setStatus(TaskResult.Status.SUCCESS)
        .setOutputJson(output)
        .build();
  }
}
