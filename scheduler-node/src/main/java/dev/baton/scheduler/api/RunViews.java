package dev.baton.scheduler.api;

import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskCounts;
import dev.baton.proto.v1.TaskState;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.engine.ReadyQueues;
import dev.baton.scheduler.journal.PastRun;
import dev.baton.scheduler.loop.WorkerReport;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.workflow.TaskSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Runs as users see them, from the state and from the history. */
final class RunViews {
  private static final int NAMED = 3;

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

  /** What a waiting task's reason depends on besides its run. */
  record Around(
      ClusterState state,
      Fleet fleet,
      long now,
      Map<AttemptName, WorkerReport.Progress> progress) {}

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
            .setWaitReason(waitReason(run, index, around))
            .setOutputBytes(bytes(task.output()));
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

  private static String waitReason(dev.baton.scheduler.engine.Run run, int index, Around around) {
    var task = run.task(index);
    return switch (task.status()) {
      case PENDING -> waitsFor(run, index);
      case READY -> whyReady(run, index, around);
      case RUNNING, SUCCESS, FAILED, TIMEOUT, CANCELLED, SKIPPED -> "";
    };
  }

  private static String waitsFor(dev.baton.scheduler.engine.Run run, int index) {
    List<String> names = new ArrayList<>();
    for (int before : run.workflow().task(index).dependsOn()) {
      if (run.task(before).status() != TaskStatus.SUCCESS) {
        names.add(run.workflow().task(before).id());
      }
    }
    return "waits for " + first(names);
  }

  private static String first(List<String> names) {
    int more = names.size() - NAMED;
    return more <= 0
        ? String.join(", ", names)
        : String.join(", ", names.subList(0, NAMED)) + " and " + more + " more";
  }

  private static String whyReady(dev.baton.scheduler.engine.Run run, int index, Around around) {
    TaskSpec spec = run.workflow().task(index);
    long retryAt = run.task(index).retryAt();
    if (retryAt > around.now()) {
      return "retry in " + (retryAt - around.now() + 999) / 1000 + " s";
    }
    if (!around.fleet().isOffered(spec.type())) {
      return "no worker for " + spec.type();
    }
    String cordoned = onlyCordoned(spec.type(), around);
    if (!cordoned.isEmpty()) {
      return cordoned;
    }
    ReadyQueues ready = around.state().ready();
    return "workers full, " + ready.size(spec.type()) + " tasks of type " + spec.type() + " wait";
  }

  /** Empty: a worker that offers the type is in service. */
  private static String onlyCordoned(String type, Around around) {
    List<String> cordoned = new ArrayList<>();
    for (Fleet.Registration worker : around.fleet().registrations()) {
      if (!worker.offers(type)) {
        continue;
      }
      if (!around.state().cordons().has(worker.life().workerId())) {
        return "";
      }
      cordoned.add(worker.life().workerId());
    }
    return "no worker for " + type + " in service: " + first(cordoned) + " cordoned";
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
