package dev.baton.scheduler.api;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.BatonServiceGrpc.BatonServiceStub;
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
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.UncordonWorkerResponse;
import dev.baton.proto.v1.WatchRunRequest;
import dev.baton.proto.v1.WatchRunResponse;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.journal.History;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RunId;
import dev.baton.workflow.WorkflowReader;
import io.grpc.ManagedChannel;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The users' API. Runs on the transport's threads, never blocks one, and answers as the loop and
 * etcd do.
 */
public final class BatonApi extends BatonServiceGrpc.BatonServiceImplBase {
  private final SchedulerLoop loop;
  private final Parts parts;
  private final Submissions submissions;
  private final LeaderCalls leader;
  private final History history;
  private final RunReads runs;

  /**
   * What the API needs besides the loop.
   *
   * @param strand orders what follows answers of etcd, and times pauses; not the loop's
   * @param channels a channel to another node, shared and closed by its owner
   * @param newRunId draws the id of a run whose caller gave none
   * @param nodes the nodes that are registered, on the loop's thread
   */
  public record Parts(
      Strand strand,
      Etcd etcd,
      Keys keys,
      WorkflowReader reader,
      Function<String, ManagedChannel> channels,
      Supplier<RunId> newRunId,
      Supplier<ListNodesResponse> nodes) {}

  public BatonApi(SchedulerLoop loop, Parts parts) {
    this.loop = loop;
    this.parts = parts;
    this.submissions = new Submissions(parts.reader());
    this.leader = new LeaderCalls(loop, parts.strand(), parts.channels());
    this.history = new History(parts.etcd(), parts.keys(), parts.strand());
    this.runs =
        new RunReads(
            loop, history, new Outputs(parts.etcd(), parts.keys(), parts.strand()), parts.strand());
  }

  // Writes.

  @Override
  public void submitRun(SubmitRunRequest request, StreamObserver<SubmitRunResponse> caller) {
    SubmitRunRequest named =
        request.getRunId().isEmpty()
            ? request.toBuilder().setRunId(parts.newRunId().get().toString()).build()
            : request;
    write(
        () -> {
          Submission submission = submissions.judge(named);
          return answer -> loop.submit(submission, (given, seq) -> submitted(given, seq, answer));
        },
        (stub, response) -> stub.submitRun(named, response),
        caller);
  }

  private void submitted(Answer given, long seq, LeaderCalls.Answer<SubmitRunResponse> answer) {
    switch (given) {
      case Answer.Submitted(RunId id, boolean existing, var warnings) ->
          answer.accept(
              SubmitRunResponse.newBuilder()
                  .setRunId(id.toString())
                  .setExisting(existing)
                  .addAllWarnings(warnings)
                  .setSeq(seq)
                  .build(),
              null);
      case Answer.SubmittedBefore(long historySeq, String tenant, String key) -> {
        var unused =
            history
                .findKey(historySeq, tenant, key)
                .whenCompleteAsync(
                    (found, failure) -> {
                      if (failure != null || found.isEmpty()) {
                        answer.accept(
                            null,
                            failure == null
                                ? Refusals.expired("The run of key '" + key + "'")
                                : Refusals.noEtcd(failure));
                      } else {
                        answer.accept(
                            SubmitRunResponse.newBuilder()
                                .setRunId(found.get().id().toString())
                                .setExisting(true)
                                .setSeq(seq)
                                .build(),
                            null);
                      }
                    },
                    parts.strand());
      }
      case Answer.Refused(Refusal refusal) -> answer.accept(null, refusal);
      case Answer.CancelRecorded recorded -> throw unexpected(recorded);
      case Answer.ServiceRecorded recorded -> throw unexpected(recorded);
    }
  }

  @Override
  public void cancelRun(CancelRunRequest request, StreamObserver<CancelRunResponse> caller) {
    write(
        () -> {
          RunId id = Fields.runId(request.getRunId());
          Fields.limit("actor", request.getActor(), 128);
          Fields.limit("reason", request.getReason(), 256);
          return answer ->
              loop.cancel(
                  id,
                  request.getActor(),
                  request.getReason(),
                  (given, seq) -> cancelled(given, seq, answer));
        },
        (stub, response) -> stub.cancelRun(request, response),
        caller);
  }

  private static void cancelled(
      Answer given, long seq, LeaderCalls.Answer<CancelRunResponse> answer) {
    switch (given) {
      case Answer.CancelRecorded(var status) ->
          answer.accept(
              CancelRunResponse.newBuilder().setState(RunViews.state(status)).setSeq(seq).build(),
              null);
      case Answer.Refused(Refusal refusal) -> answer.accept(null, refusal);
      case Answer.Submitted submitted -> throw unexpected(submitted);
      case Answer.SubmittedBefore submitted -> throw unexpected(submitted);
      case Answer.ServiceRecorded recorded -> throw unexpected(recorded);
    }
  }

  @Override
  public void cordonWorker(
      CordonWorkerRequest request, StreamObserver<CordonWorkerResponse> caller) {
    write(
        () -> {
          Fields.workerId("worker_id", request.getWorkerId());
          if (!request.getIncarnation().isEmpty()) {
            Fields.workerId("incarnation", request.getIncarnation());
          }
          Fields.limit("actor", request.getActor(), 128);
          return answer ->
              loop.cordon(
                  request.getWorkerId(),
                  request.getDrain(),
                  request.getIncarnation(),
                  request.getActor(),
                  (given, seq) ->
                      serviceRecorded(
                          given, CordonWorkerResponse.newBuilder().setSeq(seq).build(), answer));
        },
        (stub, response) -> stub.cordonWorker(request, response),
        caller);
  }

  @Override
  public void uncordonWorker(
      UncordonWorkerRequest request, StreamObserver<UncordonWorkerResponse> caller) {
    write(
        () -> {
          Fields.workerId("worker_id", request.getWorkerId());
          return answer ->
              loop.uncordon(
                  request.getWorkerId(),
                  (given, seq) ->
                      serviceRecorded(
                          given, UncordonWorkerResponse.newBuilder().setSeq(seq).build(), answer));
        },
        (stub, response) -> stub.uncordonWorker(request, response),
        caller);
  }

  private static <T> void serviceRecorded(Answer given, T response, LeaderCalls.Answer<T> answer) {
    switch (given) {
      case Answer.ServiceRecorded() -> answer.accept(response, null);
      case Answer.Refused(Refusal refusal) -> answer.accept(null, refusal);
      case Answer.Submitted submitted -> throw unexpected(submitted);
      case Answer.SubmittedBefore submitted -> throw unexpected(submitted);
      case Answer.CancelRecorded recorded -> throw unexpected(recorded);
    }
  }

  /** Judges a request, and hands it to the leader, here or there. */
  private <T> void write(
      Judged<T> request,
      BiConsumer<BatonServiceStub, StreamObserver<T>> remote,
      StreamObserver<T> caller) {
    Consumer<LeaderCalls.Answer<T>> here;
    try {
      here = request.judge();
    } catch (RefusedException e) {
      caller.onError(Refusals.exception(e.refusal()));
      return;
    }
    leader.call(new LeaderCalls.Call<>(here, remote, isForwarded(), deadlineNanos(), caller));
  }

  /** What this node's own loop is to do once the fields are found good. */
  private interface Judged<T> {
    Consumer<LeaderCalls.Answer<T>> judge() throws RefusedException;
  }

  private static IllegalStateException unexpected(Answer answer) {
    return new IllegalStateException("Expected the answer to another call, but got " + answer);
  }

  // Reads.

  @Override
  public void getRun(GetRunRequest request, StreamObserver<GetRunResponse> caller) {
    runs.get(request, caller);
  }

  @Override
  public void getOutput(GetOutputRequest request, StreamObserver<GetOutputResponse> caller) {
    runs.output(request, caller);
  }

  @Override
  public void listRuns(ListRunsRequest request, StreamObserver<ListRunsResponse> caller) {
    RunList list;
    try {
      list = new RunList(history, parts.strand(), request);
    } catch (RefusedException e) {
      caller.onError(Refusals.exception(e.refusal()));
      return;
    }
    loop.read(
        request.getMinSeq(),
        Deadlines.remaining(),
        list::collect,
        (collected, refusal) -> {
          if (collected == null) {
            caller.onError(Refusals.exception(refusal == null ? Refusals.unanswered() : refusal));
          } else {
            runs.give(collected.complete(), caller);
          }
        });
  }

  @Override
  public void watchRun(WatchRunRequest request, StreamObserver<WatchRunResponse> caller) {
    RunId id;
    try {
      id = Fields.runId(request.getRunId());
    } catch (RefusedException e) {
      caller.onError(Refusals.exception(e.refusal()));
      return;
    }
    ServerCallStreamObserver<WatchRunResponse> wire =
        (ServerCallStreamObserver<WatchRunResponse>) caller;
    WatchStream watch = new WatchStream(wire);
    wire.setOnReadyHandler(watch::drain);
    wire.setOnCancelHandler(() -> {
      watch.cancelled();
      loop.unwatch(id, watch);
    });
    loop.watch(
        id,
        request.getMinSeq(),
        Deadlines.DEFAULT,
        watch,
        refusal -> {
          if (refusal != null) {
            watch.end(Refusals.exception(refusal));
          } else {
            watchEnded(request, watch);
          }
        });
  }

  /** A run that is not live any more is told in one response. */
  private void watchEnded(WatchRunRequest request, WatchStream watch) {
    runs.get(
        GetRunRequest.newBuilder()
            .setRunId(request.getRunId())
            .setMinSeq(request.getMinSeq())
            .build(),
        new StreamObserver<>() {
          @Override
          public void onNext(GetRunResponse found) {
            watch.send(
                WatchRunResponse.newBuilder()
                    .setRun(found.getRun().toBuilder().clearTasks())
                    .addAllTasks(found.getRun().getTasksList())
                    .setSeq(found.getSeq())
                    .build(),
                true);
          }

          @Override
          public void onError(Throwable failure) {
            watch.end(failure);
          }

          @Override
          public void onCompleted() {}
        });
  }

  @Override
  public void listWorkers(ListWorkersRequest request, StreamObserver<ListWorkersResponse> caller) {
    read(view -> WorkerViews.list(view), caller);
  }

  @Override
  public void listNodes(ListNodesRequest request, StreamObserver<ListNodesResponse> caller) {
    caller.onNext(parts.nodes().get());
    caller.onCompleted();
  }

  private <T> void read(Function<ReadView, T> query, StreamObserver<T> caller) {
    loop.read(
        0,
        Deadlines.remaining(),
        query,
        (found, refusal) -> {
          if (found == null) {
            caller.onError(Refusals.exception(refusal == null ? Refusals.unanswered() : refusal));
          } else {
            caller.onNext(found);
            caller.onCompleted();
          }
        });
  }

  private static boolean isForwarded() {
    return Boolean.TRUE.equals(ForwardedCalls.IS_FORWARDED.get());
  }

  private long deadlineNanos() {
    return parts.strand().nanoTime() + Deadlines.remaining().toNanos();
  }
}
