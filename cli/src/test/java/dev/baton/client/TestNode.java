package dev.baton.client;

import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.CancelRunResponse;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.CordonWorkerResponse;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetOutputResponse;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.ListNodesRequest;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.ListRunsRequest;
import dev.baton.proto.v1.ListRunsResponse;
import dev.baton.proto.v1.ListWorkersRequest;
import dev.baton.proto.v1.ListWorkersResponse;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.TaskCounts;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.UncordonWorkerResponse;
import dev.baton.proto.v1.WatchRunRequest;
import dev.baton.proto.v1.WatchRunResponse;
import dev.baton.proto.v1.Worker;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One server of the users' API, over the memory of a {@link TestCluster}. */
public final class TestNode extends BatonServiceGrpc.BatonServiceImplBase {
  private final TestCluster cluster;
  private final String id;
  private final Server server;
  private final Endpoint endpoint;
  private final List<Watcher> watchers = new ArrayList<>();
  private volatile boolean up = true;
  private volatile boolean silent;

  private record Watcher(String runId, StreamObserver<WatchRunResponse> observer) {}

  TestNode(TestCluster cluster, String id) throws IOException {
    this.cluster = cluster;
    this.id = id;
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(this)
            .build()
            .start();
    this.endpoint = new Endpoint("127.0.0.1", server.getPort());
  }

  String id() {
    return id;
  }

  boolean isUp() {
    return up;
  }

  public Endpoint endpoint() {
    return endpoint;
  }

  /** As a process that was killed: its connections break. */
  public void kill() {
    up = false;
    server.shutdownNow();
  }

  /** As a process that was stopped: it takes calls and answers none. */
  void silence() {
    silent = true;
  }

  synchronized void tell(String runId, WatchRunResponse response) {
    if (!up || silent) {
      return;
    }
    for (Watcher watcher : watchers) {
      if (watcher.runId().equals(runId)) {
        watcher.observer().onNext(response);
        if (TestCluster.isOver(response.getRun())) {
          watcher.observer().onCompleted();
        }
      }
    }
    watchers.removeIf(w -> w.runId().equals(runId) && TestCluster.isOver(response.getRun()));
  }

  @Override
  public void submitRun(SubmitRunRequest request, StreamObserver<SubmitRunResponse> observer) {
    answer(
        "SubmitRun",
        request,
        observer,
        () -> {
          boolean existing = cluster.run(request.getRunId()) != null;
          if (!existing) {
            cluster.put(
                Run.newBuilder()
                    .setRunId(request.getRunId())
                    .setWorkflow("test")
                    .setTenant(request.getTenant().isEmpty() ? "default" : request.getTenant())
                    .putAllLabels(request.getLabelsMap())
                    .setKey(request.getKey())
                    .setActor(request.getActor())
                    .setState(RunState.RUN_RUNNING)
                    .setCreatedAt(1_700_000_000_000L)
                    .setCounts(TaskCounts.newBuilder().setPending(1))
                    .build());
          }
          return SubmitRunResponse.newBuilder()
              .setRunId(request.getRunId())
              .setExisting(existing)
              .setSeq(cluster.seq())
              .build();
        });
  }

  @Override
  public void getRun(GetRunRequest request, StreamObserver<GetRunResponse> observer) {
    answerRun(
        "GetRun",
        request,
        request.getRunId(),
        observer,
        run ->
            GetRunResponse.newBuilder()
                .setRun(request.getSummaryOnly() ? run.toBuilder().clearTasks().build() : run)
                .setSeq(cluster.seq())
                .build());
  }

  @Override
  public void getOutput(GetOutputRequest request, StreamObserver<GetOutputResponse> observer) {
    answer(
        "GetOutput",
        request,
        observer,
        () -> {
          String json = cluster.output(request.getRunId(), request.getTaskId());
          if (json == null) {
            throw TestCluster.refusal(
                Status.NOT_FOUND,
                RefusalCode.NO_OUTPUT,
                "Task " + request.getTaskId() + " has no output: it has not succeeded.",
                null);
          }
          return GetOutputResponse.newBuilder()
              .setOutputJson(json)
              .setAttempt(1)
              .setSeq(cluster.seq())
              .build();
        });
  }

  @Override
  public void listRuns(ListRunsRequest request, StreamObserver<ListRunsResponse> observer) {
    answer(
        "ListRuns",
        request,
        observer,
        () -> {
          List<Run> matching =
              cluster.runs().stream()
                  .filter(run ->
                      request.getState() == RunState.RUN_STATE_UNSPECIFIED
                          || run.getState() == request.getState())
                  .filter(run ->
                      request.getName().isEmpty() || run.getWorkflow().equals(request.getName()))
                  .map(run -> run.toBuilder().clearTasks().build())
                  .toList();
          int from =
              request.getPageToken().isEmpty() ? 0 : Integer.parseInt(request.getPageToken());
          int limit = request.getLimit() == 0 ? 50 : request.getLimit();
          int to = Math.min(matching.size(), from + limit);
          return ListRunsResponse.newBuilder()
              .addAllRuns(matching.subList(from, to))
              .setNextPageToken(to < matching.size() ? Integer.toString(to) : "")
              .setSeq(cluster.seq())
              .build();
        });
  }

  @Override
  public void watchRun(WatchRunRequest request, StreamObserver<WatchRunResponse> observer) {
    cluster.record(id, "WatchRun", request);
    StatusRuntimeException refusal = cluster.takeRefusal("WatchRun");
    Run run = cluster.run(request.getRunId());
    if (refusal == null && run == null) {
      refusal = notFound(request.getRunId());
    }
    if (refusal != null || run == null) {
      observer.onError(refusal);
      return;
    }
    // The order of locks is that of a change: cluster, then node.
    synchronized (cluster) {
      if (silent) {
        return;
      }
      observer.onNext(cluster.change(run, run.getTasksList()));
      if (TestCluster.isOver(run)) {
        observer.onCompleted();
      } else {
        add(new Watcher(request.getRunId(), observer));
      }
    }
  }

  private synchronized void add(Watcher watcher) {
    watchers.add(watcher);
  }

  @Override
  public void cancelRun(CancelRunRequest request, StreamObserver<CancelRunResponse> observer) {
    answerRun(
        "CancelRun",
        request,
        request.getRunId(),
        observer,
        run ->
            CancelRunResponse.newBuilder().setState(run.getState()).setSeq(cluster.seq()).build());
  }

  @Override
  public void listWorkers(
      ListWorkersRequest request, StreamObserver<ListWorkersResponse> observer) {
    answer(
        "ListWorkers",
        request,
        observer,
        () ->
            ListWorkersResponse.newBuilder()
                .addAllWorkers(cluster.workers())
                .setSeq(cluster.seq())
                .build());
  }

  @Override
  public void cordonWorker(
      CordonWorkerRequest request, StreamObserver<CordonWorkerResponse> observer) {
    answer(
        "CordonWorker",
        request,
        observer,
        () -> {
          cluster.changeWorker(
              request.getWorkerId(),
              worker -> {
                worker.setCordoned(true).setCordonedBy(request.getActor());
                if (request.getDrain()) {
                  worker.clearIncarnation().clearSlots().setPresence(Worker.Presence.ABSENT);
                }
              });
          return CordonWorkerResponse.newBuilder().setSeq(cluster.seq()).build();
        });
  }

  @Override
  public void uncordonWorker(
      UncordonWorkerRequest request, StreamObserver<UncordonWorkerResponse> observer) {
    answer(
        "UncordonWorker",
        request,
        observer,
        () -> {
          cluster.changeWorker(
              request.getWorkerId(), worker -> worker.clearCordoned().clearCordonedBy());
          return UncordonWorkerResponse.newBuilder().setSeq(cluster.seq()).build();
        });
  }

  @Override
  public void listNodes(ListNodesRequest request, StreamObserver<ListNodesResponse> observer) {
    answer(
        "ListNodes",
        request,
        observer,
        () ->
            ListNodesResponse.newBuilder()
                .addAllNodes(cluster.nodes())
                .setTerm(cluster.term())
                .setSeq(cluster.seq())
                .build());
  }

  private <R> void answerRun(
      String method,
      Object request,
      String runId,
      StreamObserver<R> observer,
      Function<Run, R> response) {
    answer(
        method,
        request,
        observer,
        () -> {
          Run run = cluster.run(runId);
          if (run == null) {
            throw notFound(runId);
          }
          return response.apply(run);
        });
  }

  private <R> void answer(
      String method, Object request, StreamObserver<R> observer, Supplier<R> response) {
    cluster.record(id, method, request);
    if (silent) {
      return;
    }
    @Nullable StatusRuntimeException refusal = cluster.takeRefusal(method);
    if (refusal != null) {
      observer.onError(refusal);
      return;
    }
    try {
      observer.onNext(response.get());
      observer.onCompleted();
    } catch (StatusRuntimeException e) {
      observer.onError(e);
    }
  }

  private static StatusRuntimeException notFound(String runId) {
    return TestCluster.refusal(
        Status.NOT_FOUND, RefusalCode.RUN_NOT_FOUND, "There is no run " + runId + ".", null);
  }
}
