package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.ReadyQueues.ReadyTask;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.TaskSpec;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The hard state: what the journal says, folded. {@link #apply} is the only thing that changes it,
 * and does the same on every node; what follows from an event (dependants skipped, a run ended) is
 * computed here and stored nowhere.
 *
 * <p>Touched by one thread. Queues, deadlines and indices are part of it because they are kept by
 * {@code apply}, but they can be computed from the runs and are not written to snapshots.
 */
public final class ClusterState {
  private final Definitions definitions;
  private final Map<Long, Spec> specs = new TreeMap<>();
  private final Map<SpecHash, Spec> specsByHash = new HashMap<>();
  private final TreeMap<Long, Run> runs = new TreeMap<>();
  private final Map<RunId, Run> runsById = new HashMap<>();
  private final Map<Key, Run> runsByKey = new HashMap<>();
  private final WorkerRefs workers = new WorkerRefs();
  private final ReadyQueues ready = new ReadyQueues();
  private final Cordons cordons = new Cordons();
  private final TreeSet<Deadline> deadlines =
      new TreeSet<>(Comparator.comparingLong(Deadline::at).thenComparingLong(Deadline::run));
  private final TreeSet<Run> ended =
      new TreeSet<>(Comparator.comparingLong(Run::endedAt).thenComparingLong(Run::number));
  private final Retained retained;
  private final TreeMap<Long, Long> droppedSpecs = new TreeMap<>();
  private long term;
  private String leaderNodeId = "";
  private long installedSnapshot;
  private long historyDropped;
  private int liveTasks;

  private record Key(String tenant, String key) {}

  private record Deadline(long at, long run) {}

  /**
   * @param generation of the cluster; salts the hashes of retained ids
   */
  public ClusterState(long generation, Definitions definitions) {
    this.definitions = definitions;
    this.retained = new Retained(generation);
  }

  // What it says.

  /** The newest term whose leader opened it. */
  public long term() {
    return term;
  }

  /** The node that opened it; empty: nobody has. */
  public String leaderNodeId() {
    return leaderNodeId;
  }

  public @Nullable Run run(long number) {
    return runs.get(number);
  }

  public @Nullable Run run(RunId id) {
    return runsById.get(id);
  }

  /** Where an attempt belongs; null: no live run has such a task. */
  public @Nullable Place place(AttemptName name) {
    Run run = RunId.parse(name.runId()).map(this::run).orElse(null);
    if (run == null) {
      return null;
    }
    OptionalInt task = run.workflow().indexOf(name.taskId());
    return task.isPresent() ? new Place(run, task.getAsInt()) : null;
  }

  /** The live run with this key, which must not be empty. */
  public @Nullable Run runByKey(String tenant, String key) {
    return runsByKey.get(new Key(tenant, key));
  }

  /** All live runs, oldest first. */
  public Collection<Run> runs() {
    return Collections.unmodifiableCollection(runs.values());
  }

  /** All live runs, newest first. */
  public Iterable<Run> runsDescending() {
    return Collections.unmodifiableCollection(runs.descendingMap().values());
  }

  /** Runs that have ended and not left yet, by the time of their end, then by number. */
  public Collection<Run> ended() {
    return Collections.unmodifiableCollection(ended);
  }

  /** Tasks of all live runs. */
  public int liveTasks() {
    return liveTasks;
  }

  public @Nullable Spec spec(SpecHash hash) {
    return specsByHash.get(hash);
  }

  public @Nullable Spec spec(long number) {
    return specs.get(number);
  }

  public Collection<Spec> specs() {
    return Collections.unmodifiableCollection(specs.values());
  }

  /**
   * Definitions that the state has dropped, but whoever loads still needs, and the entry that
   * dropped them.
   */
  public Map<Long, Long> droppedSpecs() {
    return Collections.unmodifiableMap(droppedSpecs);
  }

  /** Whether somebody may need this definition. */
  public boolean isSpecNamed(long number) {
    return specs.containsKey(number) || droppedSpecs.containsKey(number);
  }

  public WorkerRefs workers() {
    return workers;
  }

  public ReadyQueues ready() {
    return ready;
  }

  public Cordons cordons() {
    return cordons;
  }

  public Retained retained() {
    return retained;
  }

  public long installedSnapshot() {
    return installedSnapshot;
  }

  public long historyDropped() {
    return historyDropped;
  }

  /**
   * Journal time at which the next run's time is over; {@link Long#MAX_VALUE}: none has a limit.
   */
  public long nextDeadline() {
    return deadlines.isEmpty() ? Long.MAX_VALUE : deadlines.first().at();
  }

  /** The run whose time is over first. */
  public long nextDeadlineRun() {
    return deadlines.first().run();
  }

  // What changes it.

  /**
   * Makes an event part of the state.
   *
   * @param seq number of the entry that holds it
   * @param at journal time of the event, ms
   */
  public void apply(Event event, long seq, long at) {
    switch (event) {
      case Event.TermOpened(String nodeId) -> leaderNodeId = nodeId;
      case Event.SpecAdded(long number, SpecHash hash) -> addSpec(number, hash, at);
      case Event.SpecDropped(long number) -> dropSpec(number, seq);
      case Event.RunCreated created -> create(created, at);
      case Event.WorkerNamed(int ref, var life) -> workers.name(ref, life);
      case Event.AttemptAssigned(AttemptRef attempt, int worker) -> assign(attempt, worker, at);
      case Event.AttemptAdopted(AttemptRef attempt, int worker) -> adopt(attempt, worker);
      case Event.AttemptEnded end -> end(end, at);
      case Event.RunCancelled(long run, String actor, String reason) ->
          stop(live(run), RunStatus.CANCELLED, cancelReason(actor, reason), at);
      case Event.RunTimedOut(long run) ->
          stop(live(run), RunStatus.TIMEOUT, "the time of the run was over", at);
      case Event.RunRetired(long run, int parts) -> retire(live(run), seq, at);
      case Event.HistoryDropped(long upTo) -> {
        historyDropped = upTo;
        retained.dropUpTo(upTo);
      }
      case Event.WorkerCordoned cordon -> cordons.put(cordon);
      case Event.WorkerUncordoned(String worker) -> cordons.remove(worker);
      case Event.SnapshotInstalled(long snapshot) -> {
        installedSnapshot = snapshot;
        droppedSpecs.values().removeIf(droppedAt -> droppedAt <= snapshot);
      }
    }
  }

  /** An entry of this term begins. */
  public void enterTerm(long term) {
    this.term = term;
  }

  // Restoring, for snapshots only.

  public void restoreMeta(
      long term,
      String leaderNodeId,
      int nextWorkerRef,
      long installedSnapshot,
      long historyDropped) {
    this.term = term;
    this.leaderNodeId = leaderNodeId;
    this.installedSnapshot = installedSnapshot;
    this.historyDropped = historyDropped;
    workers.restoreNext(nextWorkerRef);
  }

  public void restoreTurn(String type, ReadyQueues.Turn turn) {
    ready.restoreTurn(type, turn);
  }

  public void restoreSpec(long number, SpecHash hash, long lastUsed) {
    addSpec(number, hash, lastUsed);
  }

  public void restoreDroppedSpec(long number, long seq) {
    droppedSpecs.put(number, seq);
  }

  public void restoreWorker(Event.WorkerNamed named) {
    int next = workers.next();
    workers.name(named.ref(), named.life());
    workers.restoreNext(next);
  }

  public void restoreCordon(Event.WorkerCordoned cordon) {
    cordons.put(cordon);
  }

  public void restoreRetained(Retained.Row row) {
    retained.restore(row);
  }

  public void restoreRun(RunImage image) {
    Run run = new Run(image.created(), specOf(image.created()), image.createdAt());
    run.spec().restoreUse();
    run.restore(image);
    index(run);
    for (int i = 0; i < run.size(); i++) {
      TaskState task = run.task(i);
      for (Attempt attempt : task.attempts()) {
        workers.use(attempt.worker());
      }
      if (task.status() == TaskStatus.READY) {
        enqueue(run, i);
      } else if (task.status() == TaskStatus.RUNNING) {
        Attempt last = task.attempts().getLast();
        workers.start(last.worker(), new AttemptRef(run.number(), i, last.number()));
      }
    }
    if (run.status().isTerminal()) {
      ended.add(run);
    } else {
      addDeadline(run);
    }
  }

  // How it changes.

  private void addSpec(long number, SpecHash hash, long at) {
    Spec spec = new Spec(number, hash, definitions.get(number), at);
    specs.put(number, spec);
    specsByHash.put(hash, spec);
  }

  private void dropSpec(long number, long seq) {
    Spec spec = specs.remove(number);
    if (spec == null || spec.uses() > 0) {
      throw new IllegalStateException("Expected definition " + number + " to be there and unused");
    }
    specsByHash.remove(spec.hash(), spec);
    droppedSpecs.put(number, seq);
    definitions.remove(number);
  }

  private Spec specOf(Event.RunCreated created) {
    Spec spec = specs.get(created.spec());
    if (spec == null) {
      throw new IllegalStateException(
          "Expected definition " + created.spec() + ", but it is unknown");
    }
    return spec;
  }

  private void create(Event.RunCreated created, long at) {
    Run run = new Run(created, specOf(created), at);
    run.spec().use(at);
    index(run);
    for (int i = 0; i < run.size(); i++) {
      if (run.task(i).waitsFor() == 0) {
        becomeReady(run, i, 0);
      }
    }
    addDeadline(run);
  }

  private void index(Run run) {
    runs.put(run.number(), run);
    runsById.put(run.id(), run);
    if (!run.created().key().isEmpty()) {
      runsByKey.put(new Key(run.created().tenant(), run.created().key()), run);
    }
    liveTasks += run.size();
  }

  private void addDeadline(Run run) {
    if (!run.workflow().timeout().isZero() && !run.isStopping()) {
      deadlines.add(deadline(run));
    }
  }

  private static Deadline deadline(Run run) {
    return new Deadline(run.createdAt() + run.workflow().timeout().toMillis(), run.number());
  }

  private void assign(AttemptRef attempt, int worker, long at) {
    Run run = live(attempt.run());
    TaskSpec spec = run.workflow().task(attempt.task());
    TaskState task = run.task(attempt.task());
    expect(task.status() == TaskStatus.READY, attempt, "a task that may start", task);
    expect(task.lastNumber() + 1 == attempt.attempt(), attempt, "the next attempt", task);
    dequeue(run, attempt.task());
    ready.assigned(spec.type(), spec.priority());
    run.move(attempt.task(), () -> task.start(Attempt.started(attempt.attempt(), worker, at)));
    workers.use(worker);
    workers.start(worker, attempt);
  }

  private void adopt(AttemptRef attempt, int worker) {
    Run run = live(attempt.run());
    TaskState task = run.task(attempt.task());
    Attempt last = task.lastAttempt();
    if (last == null || last.number() != attempt.attempt()) {
      throw unexpected(attempt, "the last attempt", task);
    }
    workers.use(worker);
    if (task.status() == TaskStatus.READY) {
      expect(last.isLost(), attempt, "a lost attempt", task);
      dequeue(run, attempt.task());
      run.move(attempt.task(), () -> task.become(TaskStatus.RUNNING));
    } else {
      expect(task.status() == TaskStatus.RUNNING, attempt, "a running attempt", task);
      workers.end(last.worker(), attempt);
    }
    task.replaceLast(last.adopted(worker));
    workers.start(worker, attempt);
    workers.release(last.worker());
  }

  private void end(Event.AttemptEnded end, long at) {
    AttemptRef attempt = end.attempt();
    Run run = live(attempt.run());
    TaskState task = run.task(attempt.task());
    Attempt last = task.lastAttempt();
    if (last == null || last.number() != attempt.attempt()) {
      throw unexpected(attempt, "the last attempt", task);
    }
    if (task.status() == TaskStatus.READY) {
      expect(
          last.isLost() && end.outcome() == Outcome.SUCCESS,
          attempt,
          "a lost attempt that succeeded",
          task);
      dequeue(run, attempt.task());
    } else {
      expect(task.status() == TaskStatus.RUNNING, attempt, "a running attempt", task);
      workers.end(last.worker(), attempt);
    }
    task.replaceLast(last.ended(at, end.outcome(), end.reason(), end.durationMs()));
    Attempt forgotten = task.dropOldReturn();
    if (forgotten != null) {
      workers.release(forgotten.worker());
    }
    if (!end.isFinal() && !run.isStopping()) {
      becomeReady(run, attempt.task(), end.retryAfterMs() == 0 ? 0 : at + end.retryAfterMs());
      return;
    }
    task.give(end.output());
    finish(run, attempt.task(), statusAfter(end.outcome(), run.isStopping()), end.reason(), at);
  }

  private static TaskStatus statusAfter(Outcome outcome, boolean stopping) {
    return switch (outcome) {
      case SUCCESS -> TaskStatus.SUCCESS;
      case FAILED -> TaskStatus.FAILED;
      case TIMEOUT -> TaskStatus.TIMEOUT;
      case CANCELLED -> TaskStatus.CANCELLED;
      case LOST, RETURNED -> stopping ? TaskStatus.CANCELLED : TaskStatus.FAILED;
    };
  }

  private void finish(Run run, int index, TaskStatus status, String reason, long at) {
    run.move(index, () -> run.task(index).become(status));
    if (status == TaskStatus.SUCCESS) {
      for (int next : run.workflow().dependants(index)) {
        if (run.task(next).dependencySucceeded() && run.task(next).status() == TaskStatus.PENDING) {
          becomeReady(run, next, 0);
        }
      }
    } else if (!run.isStopping()) {
      String why = "task " + run.workflow().task(index).id() + ": " + reason;
      if (run.workflow().onFailure() == OnFailure.CANCEL) {
        stop(run, RunStatus.FAILED, why, at);
        return;
      }
      run.because(why);
      skipDependants(run, index);
    }
    endIfDone(run, at);
  }

  private static void skipDependants(Run run, int failed) {
    Deque<Integer> open = new ArrayDeque<>(run.workflow().dependants(failed));
    while (!open.isEmpty()) {
      int index = open.removeFirst();
      TaskState task = run.task(index);
      if (task.status() == TaskStatus.PENDING) {
        run.move(index, () -> task.become(TaskStatus.SKIPPED));
        open.addAll(run.workflow().dependants(index));
      }
    }
  }

  private void stop(Run run, RunStatus towards, String why, long at) {
    if (run.isStopping() || run.status().isTerminal()) {
      return;
    }
    run.stop(towards, why);
    deadlines.remove(deadline(run));
    for (int i = 0; i < run.size(); i++) {
      TaskState task = run.task(i);
      if (task.status() == TaskStatus.READY) {
        dequeue(run, i);
      }
      if (task.status() == TaskStatus.READY || task.status() == TaskStatus.PENDING) {
        run.move(i, () -> task.become(TaskStatus.CANCELLED));
      }
    }
    endIfDone(run, at);
  }

  private void endIfDone(Run run, long at) {
    if (run.unfinished() == 0 && !run.status().isTerminal()) {
      run.end(at);
      deadlines.remove(deadline(run));
      ended.add(run);
    }
  }

  private void retire(Run run, long seq, long at) {
    if (!ended.remove(run)) {
      throw new IllegalStateException(
          "Expected run " + run.id() + " to have ended, but it is " + run.status());
    }
    runs.remove(run.number());
    runsById.remove(run.id());
    Event.RunCreated created = run.created();
    if (!created.key().isEmpty()) {
      runsByKey.remove(new Key(created.tenant(), created.key()), run);
    }
    liveTasks -= run.size();
    for (int i = 0; i < run.size(); i++) {
      for (Attempt attempt : run.task(i).attempts()) {
        workers.release(attempt.worker());
      }
    }
    run.spec().release(at);
    retained.add(
        run.number(), run.id(), created.tenant(), created.key(), created.bodyHash(), seq, at);
  }

  private void becomeReady(Run run, int index, long retryAt) {
    run.move(index, () -> run.task(index).ready(retryAt));
    enqueue(run, index);
  }

  private void enqueue(Run run, int index) {
    TaskSpec spec = run.workflow().task(index);
    ready.add(
        spec.type(),
        spec.priority(),
        new ReadyTask(run.number(), index),
        run.task(index).retryAt());
  }

  private void dequeue(Run run, int index) {
    TaskSpec spec = run.workflow().task(index);
    ready.remove(
        spec.type(),
        spec.priority(),
        new ReadyTask(run.number(), index),
        run.task(index).retryAt());
  }

  private Run live(long number) {
    Run run = runs.get(number);
    if (run == null) {
      throw new IllegalStateException("Expected run " + number + ", but it is not live");
    }
    return run;
  }

  private static String cancelReason(String actor, String reason) {
    String by = actor.isEmpty() ? "cancelled" : "cancelled by " + actor;
    return reason.isEmpty() ? by : by + ": " + reason;
  }

  private static void expect(boolean holds, AttemptRef attempt, String what, TaskState task) {
    if (!holds) {
      throw unexpected(attempt, what, task);
    }
  }

  private static IllegalStateException unexpected(AttemptRef attempt, String what, TaskState task) {
    return new IllegalStateException(
        "Expected "
            + what
            + " at "
            + attempt
            + ", but it is "
            + task.status()
            + " after attempt "
            + task.lastNumber());
  }
}
