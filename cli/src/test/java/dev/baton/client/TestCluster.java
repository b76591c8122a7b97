package dev.baton.client;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.baton.proto.v1.Node;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.WatchRunResponse;
import dev.baton.proto.v1.Worker;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the nodes of a test share: runs in memory, a sequence number, who leads. The servers and the
 * wire are real.
 */
public final class TestCluster implements AutoCloseable {
  private final Map<String, TestNode> nodes = new LinkedHashMap<>();
  private final Map<String, Run> runs = new LinkedHashMap<>();
  private final Map<String, String> outputs = new HashMap<>();
  private final Map<String, Queue<StatusRuntimeException>> refusals = new HashMap<>();
  private final List<Call> calls = new ArrayList<>();
  private final List<Worker> workers = new ArrayList<>();
  private String leader = "";
  private long term = 7;
  private long seq = 100;

  /** A call that reached a node. */
  public record Call(String node, String method, Object request, long nanos) {}

  public synchronized TestNode start(String nodeId) throws IOException {
    TestNode node = new TestNode(this, nodeId);
    nodes.put(nodeId, node);
    if (leader.isEmpty()) {
      leader = nodeId;
    }
    return node;
  }

  /** Another node leads from now on, in a new term. */
  public synchronized void lead(String nodeId) {
    leader = nodeId;
    term++;
  }

  /** The next call of the method, on whatever node, ends so. */
  public synchronized void refuseNext(String method, StatusRuntimeException refusal) {
    refusals.computeIfAbsent(method, m -> new ArrayDeque<>()).add(refusal);
  }

  public synchronized void addWorker(Worker worker) {
    workers.add(worker);
  }

  public synchronized void putOutput(String runId, String taskId, String json) {
    outputs.put(runId + "/" + taskId, json);
  }

  /** Sets a run as it is now, and tells those who watch it. */
  public synchronized void put(Run run) {
    Run before = runs.put(run.getRunId(), run);
    seq++;
    List<Task> changed = new ArrayList<>(run.getTasksList());
    if (before != null) {
      changed.removeAll(before.getTasksList());
    }
    WatchRunResponse response = change(run, changed);
    nodes.values().forEach(node -> node.tell(run.getRunId(), response));
  }

  synchronized List<Call> calls(String method) {
    return calls.stream().filter(call -> call.method().equals(method)).toList();
  }

  public synchronized List<Object> requests(String method) {
    return calls(method).stream().map(Call::request).toList();
  }

  synchronized void record(String node, String method, Object request) {
    calls.add(new Call(node, method, request, System.nanoTime()));
  }

  synchronized @Nullable StatusRuntimeException takeRefusal(String method) {
    Queue<StatusRuntimeException> queue = refusals.get(method);
    return queue == null ? null : queue.poll();
  }

  synchronized @Nullable Run run(String runId) {
    return runs.get(runId);
  }

  synchronized List<Run> runs() {
    return new ArrayList<>(runs.values()).reversed();
  }

  synchronized @Nullable String output(String runId, String taskId) {
    return outputs.get(runId + "/" + taskId);
  }

  synchronized long seq() {
    return seq;
  }

  synchronized long term() {
    return term;
  }

  synchronized void changeWorker(String id, Consumer<Worker.Builder> change) {
    workers.replaceAll(worker -> {
      if (!worker.getWorkerId().equals(id)) {
        return worker;
      }
      Worker.Builder changed = worker.toBuilder();
      change.accept(changed);
      return changed.build();
    });
  }

  synchronized List<Worker> workers() {
    return List.copyOf(workers);
  }

  synchronized List<Node> nodes() {
    return nodes.values().stream()
        .filter(TestNode::isUp)
        .map(node ->
            Node.newBuilder()
                .setNodeId(node.id())
                .setIncarnation("i-" + node.id())
                .setApiAddress(node.endpoint().toString())
                .setHttpAddress("127.0.0.1:9" + node.id().substring(1))
                .setVersion("test")
                .setLeader(node.id().equals(leader))
                .build())
        .toList();
  }

  synchronized WatchRunResponse change(Run run, List<Task> tasks) {
    return WatchRunResponse.newBuilder()
        .setRun(run.toBuilder().clearTasks())
        .addAllTasks(tasks)
        .setSeq(seq)
        .setTerm(term)
        .setLeaderNodeId(leader)
        .build();
  }

  @Override
  public synchronized void close() {
    nodes.values().forEach(TestNode::kill);
  }

  /** A refusal as a node sends it. */
  public static StatusRuntimeException refusal(
      Status status, RefusalCode code, String message, @Nullable Duration retryAfter) {
    com.google.rpc.Status.Builder proto =
        com.google.rpc.Status.newBuilder()
            .setCode(status.getCode().value())
            .setMessage(message)
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder().setReason(code.name()).setDomain("baton.dev").build()));
    if (retryAfter != null) {
      proto.addDetails(
          Any.pack(
              RetryInfo.newBuilder()
                  .setRetryDelay(
                      com.google.protobuf.Duration.newBuilder()
                          .setSeconds(retryAfter.getSeconds())
                          .setNanos(retryAfter.getNano()))
                  .build()));
    }
    return StatusProto.toStatusRuntimeException(proto.build());
  }

  static boolean isOver(Run run) {
    return run.getState() != RunState.RUN_RUNNING;
  }
}
