package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.engine.Fleet.Registration;
import dev.baton.scheduler.engine.Fleet.Standing;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.RetryPolicy;
import dev.baton.workflow.TaskSpec;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What must hold at every event and after every step, whatever happens. Everything is counted anew
 * from the tasks, by other means than the engine's.
 */
final class WalkInvariants {
  private final Map<Long, TaskStatus[]> before = new HashMap<>();
  private final Map<Long, RunImage> endedAs = new HashMap<>();
  private final Set<List<Long>> succeeded = new HashSet<>();
  private final Set<Long> stopped = new HashSet<>();
  private long lastRun;
  private int lastRef;

  static void check(boolean holds, String what, @Nullable Object about) {
    if (!holds) {
      throw new AssertionError(what + ": " + about);
    }
  }

  // A decision, before any of it is applied.

  void beforeApply(Decision decision, ClusterState state) {
    for (Event event : decision.events()) {
      if (event instanceof Event.AttemptEnded ended) {
        boolean stopping = live(state, ended.attempt().run()).isStopping();
        check(!stopping || ended.isFinal(), "A stopping run tries nothing again", event);
      }
    }
  }

  // One event, before it is applied.

  void beforeApply(Event event, Command command, ClusterState state, Fleet fleet, long now) {
    switch (event) {
      case Event.AttemptAssigned assigned -> checkAssigned(assigned, state, fleet, now);
      case Event.AttemptAdopted adopted -> checkAdopted(adopted, state, fleet);
      case Event.AttemptEnded ended -> {
        checkEnded(ended, state);
        checkCause(ended, command, state, fleet);
      }
      case Event.RunCreated created -> {
        check(created.number() > lastRun, "Run numbers grow", event);
        check(state.run(created.id()) == null, "A run id is used once", event);
        lastRun = created.number();
      }
      case Event.WorkerNamed named -> {
        check(named.ref() > lastRef, "Numbers of lives are never used again", event);
        lastRef = named.ref();
      }
      case Event.RunRetired(long number, int parts) -> {
        Run run = live(state, number);
        check(run.status().isTerminal(), "Only what has ended retires", event);
        check(run.image().equals(endedAs.get(number)), "What has ended is final", event);
      }
      case Event.TermOpened e -> {}
      case Event.SpecAdded e -> {}
      case Event.SpecDropped e -> {}
      case Event.RunCancelled e -> {}
      case Event.RunTimedOut e -> {}
      case Event.HistoryDropped e -> {}
      case Event.SnapshotInstalled e -> {}
      case Event.WorkerCordoned cordoned ->
          check(
              fleet.registration(cordoned.workerId()) != null
                  || state.cordons().has(cordoned.workerId()),
              "Who is cordoned is known",
              event);
      case Event.WorkerUncordoned(String worker) ->
          check(state.cordons().has(worker), "Who is uncordoned was cordoned", event);
    }
  }

  private static Run live(ClusterState state, long number) {
    return Objects.requireNonNull(state.run(number), () -> "Run " + number);
  }

  private void checkAssigned(
      Event.AttemptAssigned event, ClusterState state, Fleet fleet, long now) {
    AttemptRef attempt = event.attempt();
    Run run = live(state, attempt.run());
    TaskState task = run.task(attempt.task());
    TaskSpec spec = run.workflow().task(attempt.task());
    Attempt last = task.lastAttempt();
    check(!run.isStopping() && !run.status().isTerminal(), "A stopping run starts nothing", event);
    check(task.status() == TaskStatus.READY, "One live attempt per task", event);
    check(attempt.attempt() == task.lastNumber() + 1, "Attempts grow by one", event);
    check(
        last == null
            || Set.of(Outcome.FAILED, Outcome.TIMEOUT, Outcome.LOST, Outcome.RETURNED)
                .contains(Objects.requireNonNull(last.outcome())),
        "An attempt follows a failure, a loss or a return",
        event);
    check(task.retryAt() <= now, "A retry starts when it is due", event);
    for (int dependency : spec.dependsOn()) {
      check(
          run.task(dependency).status() == TaskStatus.SUCCESS,
          "A task starts after those before it",
          event);
    }
    WorkerLife life = state.workers().life(event.worker());
    Registration registration = Objects.requireNonNull(fleet.registration(life.workerId()));
    check(registration.life().equals(life), "The life that is registered", event);
    check(fleet.standing(life, now) == Standing.CONNECTED, "Connected", event);
    check(!state.cordons().has(life.workerId()), "In service", event);
    Set<String> offered = registration.capabilities();
    check(
        offered.contains(spec.type()) || (offered.contains("*") && !spec.type().equals("shell")),
        "Offered",
        event);
    check(
        fleet.used(life, state.workers()) < registration.slots(), "Slots are not exceeded", event);
  }

  private static void checkAdopted(Event.AttemptAdopted event, ClusterState state, Fleet fleet) {
    Run run = live(state, event.attempt().run());
    TaskState task = run.task(event.attempt().task());
    Attempt last = Objects.requireNonNull(task.lastAttempt());
    check(last.number() == event.attempt().attempt(), "The last attempt is adopted", event);
    check(
        task.status() == TaskStatus.RUNNING
            || (task.status() == TaskStatus.READY && last.outcome() == Outcome.LOST),
        "What runs or was lost is adopted",
        event);
    WorkerLife holder = state.workers().life(last.worker());
    WorkerLife life = state.workers().life(event.worker());
    check(holder.workerId().equals(life.workerId()), "By the same worker", event);
    check(
        fleet.isRegistered(life)
            || (holder.equals(life) && fleet.registration(life.workerId()) == null),
        "Not by a life that another has taken the place of",
        event);
  }

  /** What may end an attempt, and how. */
  private static void checkCause(
      Event.AttemptEnded event, Command command, ClusterState state, Fleet fleet) {
    Run run = live(state, event.attempt().run());
    WorkerLife holder =
        state
            .workers()
            .life(Objects.requireNonNull(run.task(event.attempt().task()).lastAttempt()).worker());
    boolean known =
        switch (command) {
          case Command.TakeResult(var from, var name, var result) ->
              from.workerId().equals(holder.workerId())
                  && name.equals(nameOf(event, state))
                  && (event.outcome() == result.outcome()
                      || (event.outcome() == Outcome.LOST && !run.isStopping()));
          case Command.TakeReturn(var from, var name) ->
              event.outcome() == Outcome.RETURNED && name.equals(nameOf(event, state));
          case Command.TakeInventory inventory ->
              event.outcome() == Outcome.RETURNED
                  ? inventory.returned().contains(nameOf(event, state))
                  : event.outcome() == Outcome.LOST
                      && !holder.equals(inventory.from())
                      && fleet.isRegistered(inventory.from());
          case Command.TakeCancelUnknown c ->
              event.outcome() == Outcome.CANCELLED && run.isStopping();
          case Command.LoseWorker(var life, var reason) ->
              event.outcome() == Outcome.LOST && holder.equals(life);
          case Command.FailInputs c -> event.outcome() == Outcome.FAILED && event.isFinal();
          case Command.TimeOutAttempt c -> event.outcome() == Outcome.TIMEOUT;
          default -> false;
        };
    check(known, "What ends an attempt", List.of(event, command));
  }

  private void checkEnded(Event.AttemptEnded event, ClusterState state) {
    Run run = live(state, event.attempt().run());
    int index = event.attempt().task();
    TaskState task = run.task(index);
    Attempt last = Objects.requireNonNull(task.lastAttempt());
    check(last.number() == event.attempt().attempt(), "The last attempt ends", event);
    check(
        task.status() == TaskStatus.RUNNING
            || (task.status() == TaskStatus.READY
                && last.outcome() == Outcome.LOST
                && event.outcome() == Outcome.SUCCESS),
        "What runs ends, or what was lost has succeeded",
        event);
    if (event.outcome() == Outcome.SUCCESS) {
      check(event.isFinal(), "A success is final", event);
      check(succeeded.add(List.of(run.number(), (long) index)), "One success per task", event);
    } else {
      check(event.output().equals(Output.NONE), "No output", event);
    }
    if (!event.isFinal()) {
      checkRetry(event, run.workflow().task(index).retry(), task);
    }
  }

  private static void checkRetry(Event.AttemptEnded event, RetryPolicy policy, TaskState task) {
    switch (event.outcome()) {
      case FAILED, TIMEOUT -> {
        RetryPolicy.Failure kind =
            event.outcome() == Outcome.FAILED
                ? RetryPolicy.Failure.ERROR
                : RetryPolicy.Failure.TIMEOUT;
        check(task.count(Outcome.FAILED, Outcome.TIMEOUT) + 1 < policy.attempts(), "Budget", event);
        check(!policy.finalOn().contains(kind), "A final failure is not retried", event);
        check(event.retryAfterMs() <= policy.longestDelay().toMillis(), "Delay", event);
        check(
            event.retryAfterMs() >= policy.firstDelay().toMillis() * 3 / 4
                || event.retryAfterMs() >= policy.longestDelay().toMillis() * 3 / 4,
            "Delay",
            event);
      }
      case LOST -> check(task.count(Outcome.LOST) < policy.maxLosses(), "Loss budget", event);
      case RETURNED -> check(event.retryAfterMs() <= 5000, "Delay", event);
      case SUCCESS, CANCELLED -> throw new AssertionError("Expected to be final: " + event);
    }
  }

  // A whole step, after it was applied.

  void afterStep(Command command, Decision decision, ClusterState state, Fleet fleet, long now) {
    if (!decision.events().isEmpty()) {
      checkRuns(state);
      checkStopped(decision, state);
    }
    for (Effect effect : decision.effects()) {
      if (effect instanceof Effect.SendAssign(WorkerLife to, AttemptRef attempt)) {
        TaskState task = live(state, attempt.run()).task(attempt.task());
        Attempt last = Objects.requireNonNull(task.lastAttempt());
        check(
            task.status() == TaskStatus.RUNNING
                && last.number() == attempt.attempt()
                && state.workers().life(last.worker()).equals(to),
            "What is sent runs there",
            effect);
      } else if (effect instanceof Effect.SendAck ack) {
        checkAck(ack, decision, state);
      }
    }
    if (command instanceof Command.TakeResult || command instanceof Command.TakeReturn) {
      long acks = decision.effects().stream().filter(Effect.SendAck.class::isInstance).count();
      check(acks == 1, "A result is acknowledged once, whatever it is", decision);
    }
    if (command instanceof Command.TakeInventory inventory) {
      checkUsed(inventory, state, fleet);
    }
    if (command instanceof Command.AssignNext && decision.isNothing()) {
      checkNothingToAssign(state, fleet, now);
    }
  }

  /** When a run begins to stop, those who run its attempts are told at once. */
  private void checkStopped(Decision decision, ClusterState state) {
    for (Run run : state.runs()) {
      if (!run.isStopping() || !stopped.add(run.number())) {
        continue;
      }
      for (int i = 0; i < run.size(); i++) {
        AttemptName name = run.nameOf(i, run.task(i).lastNumber());
        check(
            run.task(i).status() != TaskStatus.RUNNING
                || decision.effects().stream()
                    .anyMatch(e -> e instanceof Effect.SendCancel c && c.name().equals(name)),
            "Told to stop",
            name);
      }
    }
  }

  /** What a registered worker runs takes its slots, whether or not the state knows it. */
  private static void checkUsed(Command.TakeInventory inventory, ClusterState state, Fleet fleet) {
    WorkerLife life = inventory.from();
    if (!fleet.isRegistered(life) || !fleet.connected().contains(life)) {
      return;
    }
    Set<AttemptName> held = new HashSet<>(inventory.running());
    for (AttemptRef attempt : state.workers().running(life)) {
      held.add(live(state, attempt.run()).nameOf(attempt.task(), attempt.attempt()));
    }
    check(fleet.used(life, state.workers()) == held.size(), "Used slots", List.of(life, held));
  }

  private static void checkAck(Effect.SendAck ack, Decision decision, ClusterState state) {
    AttemptName name = ack.name();
    boolean decided =
        decision.events().stream()
            .anyMatch(
                e -> e instanceof Event.AttemptEnded ended && nameOf(ended, state).equals(name));
    check(decided == (ack.verdict() == Verdict.ACCEPTED), "Accepted is what is recorded", ack);
  }

  private static AttemptName nameOf(Event.AttemptEnded ended, ClusterState state) {
    AttemptRef attempt = ended.attempt();
    return live(state, attempt.run()).nameOf(attempt.task(), attempt.attempt());
  }

  /** The engine says there is nothing: then no ready task has a worker with room. */
  private static void checkNothingToAssign(ClusterState state, Fleet fleet, long now) {
    for (Run run : state.runs()) {
      for (int i = 0; i < run.size(); i++) {
        if (run.task(i).status() != TaskStatus.READY || run.task(i).retryAt() > now) {
          continue;
        }
        for (Registration worker : fleet.registrations()) {
          check(
              !worker.offers(run.workflow().task(i).type())
                  || fleet.standing(worker.life(), now) != Standing.CONNECTED
                  || state.cordons().has(worker.life().workerId())
                  || fleet.isFull(worker.life(), now)
                  || fleet.used(worker.life(), state.workers()) >= worker.slots(),
              "A ready task is assigned if a worker has room",
              run.nameOf(i, 0));
        }
      }
    }
  }

  private void checkRuns(ClusterState state) {
    Map<WorkerLife, Set<AttemptRef>> running = new HashMap<>();
    int tasks = 0;
    int ready = 0;
    int ended = 0;
    long deadline = Long.MAX_VALUE;
    for (Run run : state.runs()) {
      tasks += run.size();
      checkRun(run);
      if (run.status().isTerminal()) {
        ended++;
        endedAs.computeIfAbsent(run.number(), n -> run.image());
      } else if (!run.isStopping() && !run.workflow().timeout().isZero()) {
        deadline = Math.min(deadline, run.createdAt() + run.workflow().timeout().toMillis());
      }
      for (int i = 0; i < run.size(); i++) {
        TaskState task = run.task(i);
        if (task.status() == TaskStatus.READY) {
          ready++;
        } else if (task.status() == TaskStatus.RUNNING) {
          Attempt last = Objects.requireNonNull(task.lastAttempt());
          running
              .computeIfAbsent(state.workers().life(last.worker()), l -> new HashSet<>())
              .add(new AttemptRef(run.number(), i, last.number()));
        }
      }
    }
    check(state.liveTasks() == tasks, "Live tasks", state.liveTasks());
    check(
        state.ready().size() + state.ready().delayedSize() == ready,
        "Everything ready waits in a queue",
        ready);
    check(state.ended().size() == ended, "Ended runs", ended);
    check(state.nextDeadline() == deadline, "The next deadline", deadline);
    for (WorkerLife life : state.workers().all().values()) {
      check(
          new HashSet<>(state.workers().running(life)).equals(running.getOrDefault(life, Set.of())),
          "What a worker runs",
          life);
    }
    before.keySet().removeIf(number -> state.run(number) == null);
  }

  private void checkRun(Run run) {
    Map<TaskStatus, Integer> counts = new EnumMap<>(TaskStatus.class);
    TaskStatus[] was =
        before.computeIfAbsent(
            run.number(),
            n -> {
              TaskStatus[] fresh = new TaskStatus[run.size()];
              Arrays.fill(fresh, TaskStatus.PENDING);
              return fresh;
            });
    for (int i = 0; i < run.size(); i++) {
      TaskStatus status = run.task(i).status();
      counts.merge(status, 1, Integer::sum);
      check(!was[i].isTerminal() || was[i] == status, "What has ended is final", run.id());
      checkTask(run, i);
      was[i] = status;
    }
    for (TaskStatus status : TaskStatus.values()) {
      check(run.count(status) == counts.getOrDefault(status, 0), "Counts", run.id());
    }
    int unfinished = run.count(TaskStatus.PENDING) + run.count(TaskStatus.READY);
    check(!run.isStopping() || unfinished == 0, "A stopping run only runs out", run.id());
    check(
        run.status().isTerminal() == (unfinished + run.count(TaskStatus.RUNNING) == 0),
        "A run ends with its last task",
        run.id());
    check(run.status().isTerminal() == (run.endedAt() > 0), "The end has a time", run.id());
    if (run.status().isTerminal()) {
      RunStatus expected =
          run.isStopping()
              ? run.stopping()
              : run.count(TaskStatus.SUCCESS) == run.size() ? RunStatus.SUCCESS : RunStatus.FAILED;
      check(run.status() == expected, "How a run ends", run.id());
    }
  }

  private static void checkTask(Run run, int index) {
    TaskState task = run.task(index);
    Attempt last = task.lastAttempt();
    AttemptRef name = new AttemptRef(run.number(), index, task.lastNumber());
    check(
        (task.status() == TaskStatus.RUNNING) == (last != null && last.outcome() == null),
        "What runs has an open attempt",
        name);
    check(task.retryAt() == 0 || task.status() == TaskStatus.READY, "Only a retry is due", name);
    int number = 0;
    for (Attempt attempt : task.attempts()) {
      check(attempt.number() > number, "Attempts grow", name);
      check(attempt.equals(last) || attempt.outcome() != null, "Only the last runs", name);
      number = attempt.number();
    }
    boolean open = true;
    boolean blocked = false;
    for (int dependency : run.workflow().task(index).dependsOn()) {
      TaskStatus status = run.task(dependency).status();
      open &= status == TaskStatus.SUCCESS;
      blocked |= status.isTerminal() && status != TaskStatus.SUCCESS;
    }
    switch (task.status()) {
      case PENDING -> check(!open && !blocked, "What is pending waits for something", name);
      case SKIPPED -> check(blocked, "What is skipped has a reason", name);
      case CANCELLED -> check(run.isStopping(), "Only a stopping run cancels", name);
      case READY, RUNNING, SUCCESS, FAILED, TIMEOUT ->
          check(open, "A task starts after those before it", name);
    }
  }
}
