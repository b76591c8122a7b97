package dev.baton.scheduler.api;

import dev.baton.coordination.Strand;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetOutputResponse;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.Run;
import dev.baton.scheduler.engine.Retained;
import dev.baton.scheduler.journal.History;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.journal.PastRun;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.TaskStatus;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads of one run and its outputs, wherever it is: in the state, or in the history. */
final class RunReads {
  private static final Logger LOG = LoggerFactory.getLogger(RunReads.class);
  private static final Duration STALE_AFTER = Duration.ofSeconds(5);

  private final SchedulerLoop loop;
  private final History history;
  private final Outputs outputs;
  private final Strand strand;

  /** What a read found in the state: the answer, or where in the history it is. */
  private sealed interface Found<T> {
    record Here<T>(T answer) implements Found<T> {}

    record Before<T>(long historySeq, long seq) implements Found<T> {}

    record Elsewhere<T>(CompletableFuture<T> answer) implements Found<T> {}

    record Not<T>(Refusal refusal) implements Found<T> {}
  }

  private interface FromState<T> {
    Found<T> find(ReadView view, dev.baton.scheduler.engine.Run run);
  }

  private interface FromHistory<T> {
    Found<T> find(PastRun past, long seq);
  }

  RunReads(SchedulerLoop loop, History history, Outputs outputs, Strand strand) {
    this.loop = loop;
    this.history = history;
    this.outputs = outputs;
    this.strand = strand;
  }

  void get(GetRunRequest request, StreamObserver<GetRunResponse> caller) {
    readRun(
        request.getRunId(),
        request.getMinSeq(),
        (view, run) ->
            new Found.Here<>(
                GetRunResponse.newBuilder()
                    .setRun(render(view, run, request.getSummaryOnly()))
                    .setSeq(view.seq())
                    .setStalenessMs(staleness(view))
                    .build()),
        (past, seq) -> {
          Run.Builder run = RunViews.summary(past);
          if (!request.getSummaryOnly()) {
            run.addAllTasks(RunViews.tasks(past));
          }
          return new Found.Here<>(GetRunResponse.newBuilder().setRun(run).setSeq(seq).build());
        },
        caller);
  }

  private static Run render(
      ReadView view, dev.baton.scheduler.engine.Run run, boolean summaryOnly) {
    Run.Builder rendered = RunViews.summary(run);
    if (!summaryOnly) {
      RunViews.Around around = RunViews.Around.of(view);
      for (int i = 0; i < run.size(); i++) {
        rendered.addTasks(RunViews.task(run, i, around));
      }
    }
    return rendered.build();
  }

  private static long staleness(ReadView view) {
    return view.silence().compareTo(STALE_AFTER) > 0 ? view.silence().toMillis() : 0;
  }

  void output(GetOutputRequest request, StreamObserver<GetOutputResponse> caller) {
    String taskId = request.getTaskId();
    readRun(
        request.getRunId(),
        request.getMinSeq(),
        (view, run) -> {
          var index = run.workflow().indexOf(taskId);
          if (index.isEmpty()) {
            return new Found.Not<>(noTask(taskId, request.getRunId()));
          }
          var task = run.task(index.getAsInt());
          if (task.status() != TaskStatus.SUCCESS) {
            return new Found.Not<>(noOutput(taskId, task.status()));
          }
          return output(
              run.number(), index.getAsInt(), task.lastNumber(), task.output(), view.seq());
        },
        (past, seq) -> {
          List<PastRun.Task> tasks = past.tasks();
          for (int i = 0; i < tasks.size(); i++) {
            PastRun.Task task = tasks.get(i);
            if (task.id().equals(taskId)) {
              return task.status() == TaskStatus.SUCCESS
                  ? output(past.number(), i, task.lastNumber(), task.output(), seq)
                  : new Found.Not<>(noOutput(taskId, task.status()));
            }
          }
          return new Found.Not<>(noTask(taskId, request.getRunId()));
        },
        caller);
  }

  private Found<GetOutputResponse> output(
      long run, int task, int attempt, Output output, long seq) {
    GetOutputResponse.Builder answer =
        GetOutputResponse.newBuilder().setAttempt(attempt).setSeq(seq);
    return switch (output) {
      case Output.None() -> new Found.Here<>(answer.setOutputJson("null").build());
      case Output.Inline(String json) ->
          new Found.Here<>(answer.setOutputJson(json.isEmpty() ? "null" : json).build());
      case Output.Stored(int size) ->
          new Found.Elsewhere<>(
              outputs
                  .output(new AttemptRef(run, task, attempt))
                  .thenApplyAsync(
                      found -> {
                        if (found.isEmpty()) {
                          throw Refusals.exception(Refusals.expired("The output"));
                        }
                        return answer.setOutputJson(found.get()).build();
                      },
                      strand));
    };
  }

  private <T> void readRun(
      String text,
      long minSeq,
      FromState<T> fromState,
      FromHistory<T> fromHistory,
      StreamObserver<T> caller) {
    RunId id;
    try {
      id = Fields.runId(text);
    } catch (RefusedException e) {
      caller.onError(Refusals.exception(e.refusal()));
      return;
    }
    loop.<Found<T>>read(
        minSeq,
        Deadlines.remaining(),
        view -> {
          dev.baton.scheduler.engine.Run run = view.state().run(id);
          if (run != null) {
            return fromState.find(view, run);
          }
          Retained.Row row = view.state().retained().find(id);
          return row == null
              ? new Found.Not<>(
                  new Refusal(
                      RefusalCode.RUN_NOT_FOUND,
                      "Run " + id + " is not known: it never was, or retention has dropped it."))
              : new Found.Before<>(row.historySeq(), view.seq());
        },
        (found, refusal) -> {
          if (refusal != null || found == null) {
            caller.onError(Refusals.exception(refusal == null ? Refusals.unanswered() : refusal));
          } else if (found instanceof Found.Before<T>(long historySeq, long seq)) {
            readHistory(id, historySeq, past -> fromHistory.find(past, seq), caller);
          } else {
            give(found, caller);
          }
        });
  }

  private <T> void readHistory(
      RunId id, long historySeq, Function<PastRun, Found<T>> then, StreamObserver<T> caller) {
    var unused =
        history
            .find(historySeq, id)
            .whenCompleteAsync(
                (past, failure) -> {
                  if (failure != null) {
                    caller.onError(Refusals.exception(Refusals.noEtcd(failure)));
                  } else if (past.isEmpty()) {
                    caller.onError(Refusals.exception(Refusals.expired("Run " + id)));
                  } else {
                    give(found(past.get(), then), caller);
                  }
                },
                strand);
  }

  /** A record that cannot be shown must not leave the caller without an answer. */
  private static <T> Found<T> found(PastRun past, Function<PastRun, Found<T>> then) {
    try {
      return then.apply(past);
    } catch (RuntimeException e) {
      LOG.error("The record of run {} cannot be shown", past.number(), e);
      return new Found.Not<>(
          new Refusal(
              RefusalCode.INTERNAL, "The run's record is not readable; the node's log says why."));
    }
  }

  private <T> void give(Found<T> found, StreamObserver<T> caller) {
    switch (found) {
      case Found.Here<T>(T answer) -> {
        caller.onNext(answer);
        caller.onCompleted();
      }
      case Found.Not<T>(Refusal refusal) -> caller.onError(Refusals.exception(refusal));
      case Found.Elsewhere<T>(CompletableFuture<T> answer) -> give(answer, caller);
      case Found.Before<T> before ->
          throw new IllegalStateException("Expected an answer, but got " + before);
    }
  }

  /** Gives what a read of etcd will bring. */
  <T> void give(CompletableFuture<T> answer, StreamObserver<T> caller) {
    var unused =
        answer.whenCompleteAsync(
            (value, failure) -> {
              if (failure == null) {
                caller.onNext(value);
                caller.onCompleted();
                return;
              }
              Throwable cause = failure.getCause() == null ? failure : failure.getCause();
              caller.onError(
                  cause instanceof StatusRuntimeException
                      ? cause
                      : Refusals.exception(Refusals.noEtcd(failure)));
            },
            strand);
  }

  private static Refusal noTask(String taskId, String runId) {
    return new Refusal(
        RefusalCode.TASK_NOT_FOUND,
        "Run " + runId + " has no task '" + Fields.shortened(taskId) + "'.");
  }

  private static Refusal noOutput(String taskId, TaskStatus status) {
    return new Refusal(
        RefusalCode.NO_OUTPUT,
        "Task " + taskId + " has no output: it is " + status + ", and only a success has one.");
  }
}
