package dev.baton.scheduler.simulation;

import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskCancel;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.scheduler.engine.Event.AttemptEnded;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.scheduler.simulation.TaskBook.Run;
import dev.baton.scheduler.simulation.TaskBook.Task;
import dev.baton.worker.protocol.AttemptId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Looks at all that nodes and workers say to each other, and at what handlers do. */
final class WireWatch {
  private static final Duration BACKSTOP = Duration.ofSeconds(10);
  private static final long TOLERANCE_MS = 1_000;
  private static final long HEARD_MS = 2_500;
  private static final long LONG_MS = 12_000;

  private final Judge judge;
  private final Coverage coverage;
  private final JournalObserver observer;
  private final LongSupplier trueMillis;
  private final Predicate<WorkerLife> isWell;
  private final Map<WorkerLife, Long> heardAt = new HashMap<>();
  private final Map<WorkerLife, Long> heardSince = new HashMap<>();

  /** And in which run: an id that the history has forgotten can be given again. */
  private final Map<AttemptId, Long> started = new HashMap<>();

  private final Map<AttemptId, TaskResult> results = new HashMap<>();
  private final Map<AttemptId, Long> sentAt = new HashMap<>();

  /**
   * @param isWell whether this life of a worker is there, and registered
   */
  WireWatch(
      Judge judge,
      Coverage coverage,
      JournalObserver observer,
      LongSupplier trueMillis,
      Predicate<WorkerLife> isWell) {
    this.isWell = life -> isWell.test(life) && isHeardOf(life);
    this.judge = judge;
    this.coverage = coverage;
    this.observer = observer;
    this.trueMillis = trueMillis;
  }

  // What a node says, as it leaves.

  void leaving(String node, WorkerLife to, SchedulerMessage message) {
    if (message.getTerm() == 0) {
      return;
    }
    // Who is first in the journal knows all that is in it; an older leader may not.
    boolean leads = message.getTerm() == observer.term();
    for (TaskAssignment assignment : message.getAssignmentsList()) {
      assigns(node, to, assignment, leads);
    }
    for (ResultAck ack : message.getAcksList()) {
      acknowledges(to, ack, leads);
    }
    for (TaskCancel cancel : message.getCancelsList()) {
      cancels(cancel, leads);
    }
  }

  private void assigns(String node, WorkerLife to, TaskAssignment assignment, boolean leads) {
    AttemptId id = AttemptId.of(assignment);
    Task task = task(id);
    judge.check(
        Invariant.ACKNOWLEDGED,
        task != null && task.attempt >= id.attempt(),
        "%s sends %s, which is not in the journal",
        node,
        id);
    if (sentAt.containsKey(id)) {
      coverage.see(Sight.ASSIGN_AGAIN);
    }
    if (leads) {
      // What a leader that was replaced still says, its successor can't count from.
      sentAt.put(id, trueMillis.getAsLong());
    }
    if (leads && task != null) {
      Run run = run(id);
      judge.check(
          Invariant.CANCELLED,
          run != null && run.stopping == null,
          "%s sends %s though its run is being stopped",
          node,
          id);
      judge.check(
          Invariant.ONE_LIVE,
          task.isRunning(id.attempt()),
          "%s sends %s to %s though the task is %s after attempt %d",
          node,
          id,
          to,
          task.status,
          task.attempt);
    }
  }

  private void acknowledges(WorkerLife to, ResultAck ack, boolean leads) {
    AttemptId id = AttemptId.of(ack.getAttempt());
    Run run = run(id);
    Task task = task(id);
    boolean isLive = run != null && run.retiredSeq == 0;
    switch (ack.getVerdict()) {
      case ACCEPTED, DUPLICATE -> {
        coverage.see(
            ack.getVerdict() == ResultAck.Verdict.ACCEPTED
                ? Sight.ACK_ACCEPTED
                : Sight.ACK_DUPLICATE);
        judge.check(
            Invariant.ACKNOWLEDGED,
            task != null && (task.attempt > id.attempt() || hasEnded(task)),
            "%s hears %s of %s, which the journal does not say",
            to,
            ack.getVerdict(),
            id);
      }
      case STALE -> {
        coverage.see(Sight.ACK_STALE);
        judge.check(
            Invariant.ACKNOWLEDGED,
            !leads || task == null || !task.isRunning(id.attempt()) || !isHeldBy(task, to),
            "%s hears STALE of %s, which runs there by the journal",
            to,
            id);
      }
      case UNKNOWN -> {
        coverage.see(Sight.ACK_UNKNOWN);
        judge.check(
            Invariant.ACKNOWLEDGED,
            !leads || !isLive,
            "%s hears UNKNOWN of %s, whose run is live by the journal",
            to,
            id);
      }
      case VERDICT_UNSPECIFIED, UNRECOGNIZED ->
          throw judge.violated(Invariant.FAULTLESS, "An acknowledgement without a verdict");
    }
  }

  private static boolean hasEnded(Task task) {
    return task.status != TaskStatus.RUNNING && task.lastOutcome != null;
  }

  private boolean isHeldBy(Task task, WorkerLife life) {
    return observer.book().life(task.worker).workerId().equals(life.workerId());
  }

  private void cancels(TaskCancel cancel, boolean leads) {
    AttemptId id = AttemptId.of(cancel.getAttempt());
    Run run = run(id);
    Task task = task(id);
    judge.check(
        Invariant.ACKNOWLEDGED,
        !leads
            || run == null
            || task == null
            || run.stopping != null
            || run.hasEnded()
            || !task.isRunning(id.attempt())
            || cancel.getReason().startsWith("the task went on"),
        "%s is to be stopped, and the journal does not say so",
        id);
  }

  // What a worker says, as it arrives.

  /**
   * @param atLeader whether it arrives at who leads
   */
  void arriving(WorkerLife from, WorkerMessage message, boolean atLeader) {
    if (atLeader) {
      long now = trueMillis.getAsLong();
      Long before = heardAt.put(from, now);
      if (before == null || now - before > HEARD_MS) {
        heardSince.put(from, now);
      }
    }
    coverage.see(Sight.CANCELLED_UNKNOWN, message.getCancelledUnknownCount());
  }

  /**
   * The leader has heard of it all the time, so it is not even suspect; for so long that this holds
   * for the moment at which an entry was decided that is durable only now.
   */
  private boolean isHeardOf(WorkerLife life) {
    long now = trueMillis.getAsLong();
    return now - heardAt.getOrDefault(life, 0L) < HEARD_MS
        && now - heardSince.getOrDefault(life, now) > LONG_MS;
  }

  // What handlers do.

  /**
   * @param handlers how many run there besides
   */
  void started(WorkerLife at, int slots, TaskAssignment assignment, int handlers) {
    AttemptId id = AttemptId.of(assignment);
    coverage.see(Sight.ATTEMPT_STARTED);
    judge.check(
        Invariant.SLOTS,
        handlers < slots,
        "%s starts %s beside %d others, and has %d slots",
        at,
        id,
        handlers,
        slots);
    Run run = run(id);
    Task task = task(id);
    if (run == null || task == null) {
      throw judge.violated(Invariant.ACKNOWLEDGED, "%s starts, and is not in the journal", id);
    }
    Long before = started.put(id, run.number);
    judge.check(
        Invariant.ONE_LIVE,
        before == null || before != run.number,
        "%s is started again, at %s",
        id,
        at);
    for (int first : task.spec.dependsOn()) {
      judge.check(
          Invariant.DAG_ORDER,
          run.tasks[first].status == TaskStatus.SUCCESS,
          "%s starts though task %d is %s",
          id,
          first,
          run.tasks[first].status);
    }
    if (task.attempt == id.attempt()) {
      judge.check(
          Invariant.CANCELLED,
          task.lastOutcome != Outcome.CANCELLED,
          "%s starts though its worker has said that it never would",
          id);
      judge.check(
          Invariant.ONE_LIVE,
          task.lastOutcome != Outcome.RETURNED,
          "%s starts though it was returned",
          id);
    }
  }

  void finished(TaskResult result) {
    results.put(AttemptId.of(result), result);
  }

  // What the journal says of it.

  /** Before the event counts. */
  void ended(AttemptEnded ended, Run run, Task task) {
    AttemptRef attempt = ended.attempt();
    AttemptId id = new AttemptId(run.id.toString(), task.spec.id(), attempt.attempt());
    TaskResult result = results.get(id);
    if (ended.outcome() == Outcome.SUCCESS) {
      if (task.status == TaskStatus.READY) {
        coverage.see(Sight.LATE_SUCCESS_OF_LOST);
      }
      judge.check(
          Invariant.ACCEPTED,
          result != null
              && result.getStatus() == TaskResult.Status.SUCCESS
              && isOutput(ended.output(), result.getOutputJson()),
          "%s is recorded as a success, but its handler ended %s",
          id,
          result == null ? "never" : result.getStatus());
      if (ended.output() instanceof Output.Stored) {
        coverage.see(Sight.STORED_OUTPUT);
      }
    }
    judge.check(
        Invariant.ONE_LIVE,
        ended.outcome() != Outcome.RETURNED || started.getOrDefault(id, -1L) != run.number,
        "%s is recorded as returned, but it was started",
        id);
    judge.check(
        Invariant.ATTEMPTS,
        ended.outcome() != Outcome.LOST
            || result != null
            || !isWell.test(observer.book().life(task.worker)),
        "%s is recorded as lost, but its worker is there, and heard of",
        id);
    if (ended.outcome() == Outcome.LOST && ended.reason().contains("refuses connections")) {
      coverage.see(Sight.PROVEN_GONE);
    }
    if (ended.outcome() == Outcome.TIMEOUT && ended.reason().startsWith("its worker did not")) {
      coverage.see(Sight.BACKSTOP);
      Long sent = sentAt.get(id);
      long due = (sent == null ? 0 : sent) + task.spec.timeout().toMillis() + BACKSTOP.toMillis();
      judge.check(
          Invariant.TIMERS,
          trueMillis.getAsLong() >= due - TOLERANCE_MS,
          "%s is timed out by the scheduler %d ms early",
          id,
          due - trueMillis.getAsLong());
    }
  }

  private static boolean isOutput(Output output, String json) {
    return switch (output) {
      case Output.None() -> json.isEmpty();
      case Output.Inline(String recorded) -> recorded.equals(json);
      case Output.Stored(int size) -> size == json.length();
    };
  }

  private @Nullable Run run(AttemptId id) {
    return observer.book().run(id.runId());
  }

  private @Nullable Task task(AttemptId id) {
    Run run = run(id);
    return run == null ? null : run.task(id.taskId());
  }
}
