package dev.baton.scheduler.api;

import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskCounts;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.WaitKind;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Waits;
import dev.baton.scheduler.journal.PastRun;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.loop.WorkerReport;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.workflow.TaskSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Runs as users see them, from the state and from the history. */
final class RunViews {
  private RunViews() {}

  /** Everything but the tasks. */
  static Run.Builder summary(dev.baton.scheduler.engine.Run run) {
    var created = run.created();
    return Run.newBuilder()
        .setRunId(run.id().toString())
        .setWorkflow(run.workflow().name())
        .setWorkflowVersion(run.workflow().version())
        .setTenant(created.tenant())
        .putAllLabels(created.labels())
        .setActor(created.actor())
        .setKey(created.key())
        .setState(state(run.status()))
        .setCreatedAt(run.createdAt())
        .setEndedAt(run.endedAt())
        .setReason(run.reason())
        .setCancelling(run.isStopping() && !run.status().isTerminal())
        .setCounts(counts(run::count));
  }

  /** What a task's view depends on besides its run, at one moment. */
  record Around(ClusterState state, Waits waits, Map<AttemptName, WorkerReport.Progress> progress) {
    static Around of(ReadView view) {
      return new Around(
          view.state(), new Waits(view.state(), view.fleet(), view.now()), view.progress());
    }
  }

  static Task task(dev.baton.scheduler.engine.Run run, int index, Around around) {
    TaskSpec spec = run.workflow().task(index);
    var task = run.task(index);
    Task.Builder view =
        Task.newBuilder()
            .setTaskId(spec.id())
            .setType(spec.type())
            .setState(state(task.status()))
            .setPriority(spec.priority())
            .setRetryAt(task.status() == TaskStatus.READY ? task.retryAt() : 0)
            .setOutputBytes(bytes(task.output()));
    Waits.Wait wait = around.waits().of(run, index);
    if (wait != null) {
      view.setWaitReason(wait.text()).setWaitKind(kind(wait.kind()));
    }
    for (int before : spec.dependsOn()) {
      view.addDependsOn(run.workflow().task(before).id());
    }
    for (var attempt : task.attempts()) {
      view.addAttempts(
          Attempt.newBuilder()
              .setNumber(attempt.number())
              .setWorkerId(around.state().workers().life(attempt.worker()).workerId())
              .setStartedAt(attempt.startedAt())
              .setEndedAt(attempt.endedAt())
              .setOutcome(outcome(attempt.outcome()))
              .setReason(attempt.reason())
              .setDurationMs(attempt.durationMs()));
    }
    if (task.status() == TaskStatus.RUNNING) {
      WorkerReport.Progress said = around.progress().get(run.nameOf(index, task.lastNumber()));
      if (said != null) {
        view.setProgress(said.fraction()).setProgressMessage(said.message());
      }
    }
    return view.build();
  }

  // From the history.

  static Run.Builder summary(PastRun run) {
    return Run.newBuilder()
        .setRunId(run.id().toString())
        .setWorkflow(run.workflow())
        .setWorkflowVersion(run.workflowVersion())
        .setTenant(run.tenant())
        .putAllLabels(run.labels())
        .setActor(run.actor())
        .setKey(run.key())
        .setState(state(run.status()))
        .setCreatedAt(run.createdAt())
        .setEndedAt(run.endedAt())
        .setReason(run.reason())
        .setCounts(counts(status -> run.counts().getOrDefault(status, 0)));
  }

  static List<Task> tasks(PastRun run) {
    return run.tasks().stream().map(RunViews::task).toList();
  }

  private static Task task(PastRun.Task task) {
    Task.Builder view =
        Task.newBuilder()
            .setTaskId(task.id())
            .setType(task.type())
            .setState(state(task.status()))
            .setPriority(task.priority())
            .addAllDependsOn(task.dependsOn())
            .setOutputBytes(bytes(task.output()));
    for (PastRun.Attempt attempt : task.attempts()) {
      view.addAttempts(
          Attempt.newBuilder()
              .setNumber(attempt.number())
              .setWorkerId(attempt.workerId())
              .setStartedAt(attempt.startedAt())
              .setEndedAt(attempt.endedAt())
              .setOutcome(outcome(attempt.outcome()))
              .setReason(attempt.reason())
              .setDurationMs(attempt.durationMs()));
    }
    return view.build();
  }

  // What both have in common.

  private static TaskCounts counts(ToIntFunction<TaskStatus> count) {
    return TaskCounts.newBuilder()
        .setPending(count.applyAsInt(TaskStatus.PENDING))
        .setReady(count.applyAsInt(TaskStatus.READY))
        .setRunning(count.applyAsInt(TaskStatus.RUNNING))
        .setSuccess(count.applyAsInt(TaskStatus.SUCCESS))
        .setFailed(count.applyAsInt(TaskStatus.FAILED))
        .setTimeout(count.applyAsInt(TaskStatus.TIMEOUT))
        .setCancelled(count.applyAsInt(TaskStatus.CANCELLED))
        .setSkipped(count.applyAsInt(TaskStatus.SKIPPED))
        .build();
  }

  private static int bytes(Output output) {
    return switch (output) {
      case Output.None() -> 0;
      case Output.Inline(String json) -> json.getBytes(StandardCharsets.UTF_8).length;
      case Output.Stored(int size) -> size;
    };
  }

  static RunState state(RunStatus status) {
    return switch (status) {
      case RUNNING -> RunState.RUN_RUNNING;
      case SUCCESS -> RunState.RUN_SUCCESS;
      case FAILED -> RunState.RUN_FAILED;
      case TIMEOUT -> RunState.RUN_TIMEOUT;
      case CANCELLED -> RunState.RUN_CANCELLED;
    };
  }

  static TaskState state(TaskStatus status) {
    return switch (status) {
      case PENDING -> TaskState.TASK_PENDING;
      case READY -> TaskState.TASK_READY;
      case RUNNING -> TaskState.TASK_RUNNING;
      case SUCCESS -> TaskState.TASK_SUCCESS;
      case FAILED -> TaskState.TASK_FAILED;
      case TIMEOUT -> TaskState.TASK_TIMEOUT;
      case CANCELLED -> TaskState.TASK_CANCELLED;
      case SKIPPED -> TaskState.TASK_SKIPPED;
    };
  }

  private static WaitKind kind(Waits.Kind kind) {
    return switch (kind) {
      case DEPENDENCY -> WaitKind.WAIT_DEPENDENCY;
      case RETRY -> WaitKind.WAIT_RETRY;
      case NO_WORKER -> WaitKind.WAIT_NO_WORKER;
      case CORDONED -> WaitKind.WAIT_CORDONED;
      case NOT_CONNECTED -> WaitKind.WAIT_NOT_CONNECTED;
      case WORKERS_FULL -> WaitKind.WAIT_WORKERS_FULL;
      case NEXT -> WaitKind.WAIT_NEXT;
    };
  }

  private static AttemptOutcome outcome(@Nullable Outcome outcome) {
    if (outcome == null) {
      return AttemptOutcome.ATTEMPT_OUTCOME_UNSPECIFIED;
    }
    return switch (outcome) {
      case SUCCESS -> AttemptOutcome.ATTEMPT_SUCCESS;
      case FAILED -> AttemptOutcome.ATTEMPT_FAILED;
      case TIMEOUT -> AttemptOutcome.ATTEMPT_TIMEOUT;
      case CANCELLED -> AttemptOutcome.ATTEMPT_CANCELLED;
      case LOST -> AttemptOutcome.ATTEMPT_LOST;
      case RETURNED -> AttemptOutcome.ATTEMPT_RETURNED;
    };
  }
}
