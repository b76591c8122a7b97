package dev.baton.scheduler.simulation;

import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.Event.AttemptEnded;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.TaskSpec;
import dev.baton.workflow.Workflow;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The runs and tasks of the journal, kept by rules that are written here once more and not taken
 * from the engine: each event is judged before it counts.
 */
final class TaskBook {
  private static final Set<Outcome> FOLLOWED =
      Set.of(Outcome.FAILED, Outcome.TIMEOUT, Outcome.LOST, Outcome.RETURNED);

  private final Judge judge;
  private final Function<SpecHash, Workflow> workflows;
  private final ToIntFunction<WorkerLife> slots;
  private final Map<Long, SpecHash> specs = new HashMap<>();
  private final Map<Long, Run> byNumber = new HashMap<>();
  private final Map<RunId, Run> byId = new LinkedHashMap<>();
  private final Map<Integer, WorkerLife> lives = new HashMap<>();
  private final Map<WorkerLife, Integer> running = new HashMap<>();
  private final Set<String> cordons = new HashSet<>();
  private Ends beforeEnd = (ended, run, task) -> {};
  private long droppedHistory;

  /** Looks at an end before it counts. */
  interface Ends {
    void look(AttemptEnded ended, Run run, Task task);
  }

  /** A run, from its creation on; it stays here when it has left the state. */
  static final class Run {
    final long number;
    final RunId id;
    final Event.RunCreated created;
    final Workflow workflow;
    final Task[] tasks;
    final long createdAt;
    final long createdSeq;
    RunStatus status = RunStatus.RUNNING;
    @Nullable RunStatus stopping;
    int unfinished;
    long endedSeq;
    long retiredSeq;

    Run(Event.RunCreated created, Workflow workflow, long seq, long at) {
      this.number = created.number();
      this.id = created.id();
      this.created = created;
      this.workflow = workflow;
      this.createdSeq = seq;
      this.createdAt = at;
      this.tasks = new Task[workflow.tasks().size()];
      for (int i = 0; i < tasks.length; i++) {
        tasks[i] = new Task(workflow.task(i));
      }
      this.unfinished = tasks.length;
    }

    boolean hasEnded() {
      return status != RunStatus.RUNNING;
    }

    @Nullable Task task(String id) {
      return workflow.indexOf(id).isPresent() ? tasks[workflow.indexOf(id).getAsInt()] : null;
    }
  }

  /** A task of a run. */
  static final class Task {
    final TaskSpec spec;
    TaskStatus status = TaskStatus.PENDING;
    int attempt;
    int worker;
    @Nullable Outcome lastOutcome;
    String lastReason = "";
    long dueAt;
    long assignedAt;

    Task(TaskSpec spec) {
      this.spec = spec;
    }

    /** How the last attempt ended, for people. */
    String lastWord() {
      return String.valueOf(lastOutcome);
    }

    boolean isRunning(int number) {
      return status == TaskStatus.RUNNING && attempt == number;
    }
  }

  /**
   * @param workflows by the hash of their definitions
   * @param slots of a worker's life
   */
  TaskBook(Judge judge, Function<SpecHash, Workflow> workflows, ToIntFunction<WorkerLife> slots) {
    this.judge = judge;
    this.workflows = workflows;
    this.slots = slots;
  }

  void beforeEnd(Ends look) {
    beforeEnd = look;
  }

  /** All runs that ever were. */
  Collection<Run> runs() {
    return byId.values();
  }

  @Nullable Run run(RunId id) {
    return byId.get(id);
  }

  @Nullable Run run(String id) {
    return RunId.parse(id).map(byId::get).orElse(null);
  }

  Run run(long number) {
    Run run = byNumber.get(number);
    if (run == null) {
      throw judge.violated(Invariant.FOLD, "The journal names run %d, which is not there", number);
    }
    return run;
  }

  WorkerLife life(int ref) {
    WorkerLife life = lives.get(ref);
    if (life == null) {
      throw judge.violated(Invariant.FOLD, "The journal names worker %d, which is not there", ref);
    }
    return life;
  }

  int running(WorkerLife life) {
    return running.getOrDefault(life, 0);
  }

  boolean isCordoned(String workerId) {
    return cordons.contains(workerId);
  }

  long droppedHistory() {
    return droppedHistory;
  }

  void apply(Event event, long seq, long at) {
    switch (event) {
      case Event.TermOpened e -> {}
      case Event.SpecAdded(long number, SpecHash hash) -> specs.put(number, hash);
      case Event.SpecDropped(long number) -> specs.remove(number);
      case Event.RunCreated created -> create(created, seq, at);
      case Event.WorkerNamed(int ref, WorkerLife life) -> lives.put(ref, life);
      case Event.AttemptAssigned(AttemptRef attempt, int worker) -> assign(attempt, worker, at);
      case Event.AttemptAdopted(AttemptRef attempt, int worker) -> adopt(attempt, worker);
      case AttemptEnded ended -> end(ended, seq, at);
      case Event.RunCancelled(long number, String actor, String reason) ->
          stop(run(number), RunStatus.CANCELLED, seq);
      case Event.RunTimedOut(long number) -> timeOut(run(number), seq, at);
      case Event.RunRetired(long number, int parts) -> retire(run(number), seq);
      case Event.HistoryDropped(long upTo) -> droppedHistory = upTo;
      case Event.SnapshotInstalled e -> {}
      case Event.WorkerCordoned cordoned -> cordons.add(cordoned.workerId());
      case Event.WorkerUncordoned(String worker) -> cordons.remove(worker);
    }
  }

  private void create(Event.RunCreated created, long seq, long at) {
    SpecHash hash = specs.get(created.spec());
    if (hash == null) {
      throw judge.violated(Invariant.FOLD, "%s names a definition that is not there", created);
    }
    Run before = byId.get(created.id());
    judge.check(
        Invariant.TERMINAL,
        before == null || (before.retiredSeq > 0 && before.retiredSeq <= droppedHistory),
        "Run %s is created again",
        created.id());
    Run run = new Run(created, workflows.apply(hash), seq, at);
    byId.put(run.id, run);
    byNumber.put(run.number, run);
    for (Task task : run.tasks) {
      if (task.spec.dependsOn().isEmpty()) {
        task.status = TaskStatus.READY;
      }
    }
  }

  private void assign(AttemptRef attempt, int worker, long at) {
    Run run = run(attempt.run());
    Task task = run.tasks[attempt.task()];
    WorkerLife life = life(worker);
    judge.check(
        Invariant.CANCELLED,
        run.stopping == null,
        "%s is assigned though its run is being stopped",
        attempt);
    judge.check(
        Invariant.TERMINAL,
        !run.hasEnded() && !task.status.isTerminal(),
        "%s is assigned though its task is %s",
        attempt,
        task.status);
    judge.check(
        Invariant.ONE_LIVE,
        task.status != TaskStatus.RUNNING,
        "%s is assigned while attempt %d runs",
        attempt,
        task.attempt);
    for (int before : task.spec.dependsOn()) {
      judge.check(
          Invariant.DAG_ORDER,
          run.tasks[before].status == TaskStatus.SUCCESS,
          "%s is assigned though task %d is %s",
          attempt,
          before,
          run.tasks[before].status);
    }
    judge.check(
        Invariant.ATTEMPTS,
        attempt.attempt() == task.attempt + 1
            && (task.attempt == 0 || FOLLOWED.contains(task.lastOutcome)),
        "%s follows attempt %d, which ended %s",
        attempt,
        task.attempt,
        task.lastWord());
    judge.check(
        Invariant.TIMERS, at >= task.dueAt, "%s is assigned %d ms early", attempt, task.dueAt - at);
    judge.check(
        Invariant.CORDONED,
        !isCordoned(life.workerId()),
        "%s is assigned to %s, which is cordoned",
        attempt,
        life);
    judge.check(
        Invariant.SLOTS,
        running(life) < slots.applyAsInt(life),
        "%s is assigned to %s, which has %d slots and runs %d attempts",
        attempt,
        life,
        slots.applyAsInt(life),
        running(life));
    task.status = TaskStatus.RUNNING;
    task.attempt = attempt.attempt();
    task.worker = worker;
    task.lastOutcome = null;
    task.dueAt = 0;
    task.assignedAt = at;
    running.merge(life, 1, Integer::sum);
  }

  private void adopt(AttemptRef attempt, int worker) {
    Run run = run(attempt.run());
    Task task = run.tasks[attempt.task()];
    judge.check(
        Invariant.TERMINAL,
        !run.hasEnded() && !task.status.isTerminal(),
        "%s is adopted though its task is %s",
        attempt,
        task.status);
    judge.check(
        Invariant.ONE_LIVE,
        attempt.attempt() == task.attempt
            && (task.status == TaskStatus.RUNNING || task.lastOutcome == Outcome.LOST),
        "%s is adopted though the task is %s after attempt %d, which ended %s",
        attempt,
        task.status,
        task.attempt,
        task.lastWord());
    judge.check(
        Invariant.ACCEPTED,
        life(worker).workerId().equals(life(task.worker).workerId()),
        "%s was given to %s and is adopted by %s",
        attempt,
        life(task.worker),
        life(worker));
    if (task.status == TaskStatus.RUNNING) {
      running.merge(life(task.worker), -1, Integer::sum);
    }
    task.status = TaskStatus.RUNNING;
    task.worker = worker;
    task.lastOutcome = null;
    task.dueAt = 0;
    running.merge(life(worker), 1, Integer::sum);
  }

  private void end(AttemptEnded ended, long seq, long at) {
    AttemptRef attempt = ended.attempt();
    Run run = run(attempt.run());
    Task task = run.tasks[attempt.task()];
    judge.check(
        Invariant.TERMINAL,
        !run.hasEnded() && !task.status.isTerminal(),
        "%s ends %s though its task is %s",
        attempt,
        ended.outcome(),
        task.status);
    boolean lostBefore = task.status == TaskStatus.READY && task.lastOutcome == Outcome.LOST;
    judge.check(
        Invariant.ACCEPTED,
        attempt.attempt() == task.attempt
            && (task.status == TaskStatus.RUNNING
                || (lostBefore && ended.outcome() == Outcome.SUCCESS)),
        "%s ends %s, but the task is %s after attempt %d, which ended %s",
        attempt,
        ended.outcome(),
        task.status,
        task.attempt,
        task.lastWord());
    beforeEnd.look(ended, run, task);
    if (task.status == TaskStatus.RUNNING) {
      running.merge(life(task.worker), -1, Integer::sum);
    }
    task.lastOutcome = ended.outcome();
    task.lastReason = ended.reason();
    if (!ended.isFinal() && run.stopping == null) {
      task.status = TaskStatus.READY;
      task.dueAt = ended.retryAfterMs() == 0 ? 0 : at + ended.retryAfterMs();
      return;
    }
    task.status =
        switch (ended.outcome()) {
          case SUCCESS -> TaskStatus.SUCCESS;
          case FAILED -> TaskStatus.FAILED;
          case TIMEOUT -> TaskStatus.TIMEOUT;
          case CANCELLED -> TaskStatus.CANCELLED;
          case LOST, RETURNED -> run.stopping == null ? TaskStatus.FAILED : TaskStatus.CANCELLED;
        };
    run.unfinished--;
    follow(run, attempt.task(), seq);
  }

  private void follow(Run run, int ended, long seq) {
    if (run.tasks[ended].status == TaskStatus.SUCCESS) {
      for (int next : run.workflow.dependants(ended)) {
        boolean open =
            run.workflow.task(next).dependsOn().stream()
                .allMatch(before -> run.tasks[before].status == TaskStatus.SUCCESS);
        if (open && run.tasks[next].status == TaskStatus.PENDING) {
          run.tasks[next].status = TaskStatus.READY;
        }
      }
    } else if (run.stopping == null && run.workflow.onFailure() == OnFailure.CANCEL) {
      stop(run, RunStatus.FAILED, seq);
      return;
    } else if (run.stopping == null) {
      Deque<Integer> skipped = new ArrayDeque<>(run.workflow.dependants(ended));
      while (!skipped.isEmpty()) {
        int index = skipped.removeFirst();
        if (run.tasks[index].status == TaskStatus.PENDING) {
          run.tasks[index].status = TaskStatus.SKIPPED;
          run.unfinished--;
          skipped.addAll(run.workflow.dependants(index));
        }
      }
    }
    endIfDone(run, seq);
  }

  private void timeOut(Run run, long seq, long at) {
    long due = run.createdAt + run.workflow.timeout().toMillis();
    judge.check(
        Invariant.TIMERS,
        !run.workflow.timeout().isZero() && at >= due,
        "Run %s times out %d ms early",
        run.id,
        due - at);
    stop(run, RunStatus.TIMEOUT, seq);
  }

  private void stop(Run run, RunStatus towards, long seq) {
    judge.check(
        Invariant.TERMINAL,
        !run.hasEnded() && run.stopping == null,
        "Run %s is stopped towards %s though it is %s",
        run.id,
        towards,
        run.status);
    run.stopping = towards;
    for (Task task : run.tasks) {
      if (task.status == TaskStatus.READY || task.status == TaskStatus.PENDING) {
        task.status = TaskStatus.CANCELLED;
        run.unfinished--;
      }
    }
    endIfDone(run, seq);
  }

  private static void endIfDone(Run run, long seq) {
    if (run.unfinished == 0 && !run.hasEnded()) {
      RunStatus towards = run.stopping;
      boolean allWell = true;
      for (Task task : run.tasks) {
        allWell &= task.status == TaskStatus.SUCCESS;
      }
      run.status = towards != null ? towards : allWell ? RunStatus.SUCCESS : RunStatus.FAILED;
      run.endedSeq = seq;
    }
  }

  private void retire(Run run, long seq) {
    judge.check(
        Invariant.TERMINAL,
        run.hasEnded() && run.retiredSeq == 0,
        "Run %s retires though it is %s",
        run.id,
        run.status);
    run.retiredSeq = seq;
  }
}
