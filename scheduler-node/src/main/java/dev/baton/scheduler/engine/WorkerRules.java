package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.engine.Engine.Moment;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import java.util.HashSet;
import java.util.Set;

/**
 * What a worker's inventory, or its end, means for the attempts that it was given; and which
 * workers are in service.
 */
final class WorkerRules {
  private final ClusterState state;
  private final Fleet fleet;
  private final AttemptRules attempts;

  WorkerRules(ClusterState state, Fleet fleet, AttemptRules attempts) {
    this.state = state;
    this.fleet = fleet;
    this.attempts = attempts;
  }

  /**
   * A worker's word counts for its own process life; for an older one only if it is the life that
   * the registry names. One that another life has taken the place of is drained: it adopts nothing
   * and is given nothing again, or a forgotten process could take away what its successor runs.
   */
  Decision takeInventory(Command.TakeInventory inventory, Moment moment) {
    WorkerLife from = inventory.from();
    Draft draft = new Draft();
    Set<AttemptRef> settled = new HashSet<>();
    Set<AttemptName> foreign = new HashSet<>(inventory.lingering());
    for (AttemptName name : inventory.running()) {
      takeRunning(from, name, draft, settled, foreign);
    }
    for (AttemptName name : inventory.results()) {
      settle(name, settled);
      // Those whose acknowledgement was lost: until it comes they hold the slots of what is
      // missing.
      Verdict verdict = attempts.verdict(from, name);
      if (verdict != null) {
        draft.add(new Effect.SendAck(from, name, verdict));
      }
    }
    for (AttemptName name : inventory.returned()) {
      if (settle(name, settled)) {
        draft.add(attempts.takeReturn(from, name, moment));
      }
    }
    if (fleet.isRegistered(from) || isUnregistered(from)) {
      takeMissing(from, settled, draft);
    }
    fleet.holds(from, foreign);
    return draft.decision();
  }

  /** False if the inventory has named this attempt before: it is decided once. */
  private boolean settle(AttemptName name, Set<AttemptRef> settled) {
    Place place = state.place(name);
    return place == null || settled.add(place.attempt(name.attempt()));
  }

  /** No life of this worker is registered. */
  private boolean isUnregistered(WorkerLife life) {
    return fleet.registration(life.workerId()) == null;
  }

  private void takeRunning(
      WorkerLife from,
      AttemptName name,
      Draft draft,
      Set<AttemptRef> settled,
      Set<AttemptName> foreign) {
    Place place = state.place(name);
    Attempt last = place == null ? null : place.state().lastAttempt();
    if (place == null || last == null || !mayRun(place, last, from, name)) {
      if (foreign.add(name)) {
        draft.add(new Effect.SendCancel(from, name, "the task went on without this attempt"));
      }
      return;
    }
    AttemptRef attempt = place.attempt(name.attempt());
    if (!settled.add(attempt)) {
      return;
    }
    boolean isHolder = state.workers().life(last.worker()).equals(from);
    boolean runsHere = isHolder && !last.isLost();
    if (!runsHere && (fleet.isRegistered(from) || (isHolder && isUnregistered(from)))) {
      draft.add(new Event.AttemptAdopted(attempt, draft.refOf(from, state.workers())));
    }
    if (place.run().isStopping()) {
      draft.add(new Effect.SendCancel(from, name, place.run().reason()));
    }
  }

  /** It is the last attempt of its task, runs at this worker or was lost there. */
  private boolean mayRun(Place place, Attempt last, WorkerLife from, AttemptName name) {
    TaskStatus status = place.state().status();
    return last.number() == name.attempt()
        && (status == TaskStatus.RUNNING || (status == TaskStatus.READY && last.isLost()))
        && state.workers().life(last.worker()).workerId().equals(from.workerId());
  }

  private void takeMissing(WorkerLife from, Set<AttemptRef> settled, Draft draft) {
    for (WorkerLife life : state.workers().all().values()) {
      if (life.equals(from)) {
        repeat(from, settled, draft);
      } else if (life.workerId().equals(from.workerId()) && fleet.isRegistered(from)) {
        loseOlder(life, settled, draft);
      }
    }
  }

  /** What this life was given and does not hold may still be on its way: never the next attempt. */
  private void repeat(WorkerLife from, Set<AttemptRef> settled, Draft draft) {
    for (AttemptRef attempt : state.workers().running(from)) {
      if (settled.contains(attempt)) {
        continue;
      }
      Run run = run(attempt);
      draft.add(
          run.isStopping()
              ? new Effect.SendCancel(
                  from, run.nameOf(attempt.task(), attempt.attempt()), run.reason())
              : new Effect.SendAssign(from, attempt));
    }
  }

  private void loseOlder(WorkerLife older, Set<AttemptRef> settled, Draft draft) {
    int slice = 0;
    for (AttemptRef attempt : state.workers().running(older)) {
      if (slice < Limits.LOSS_SLICE && !settled.contains(attempt)) {
        slice++;
        attempts.lose(
            new Place(run(attempt), attempt.task()),
            "worker " + older.workerId() + " was started anew",
            draft);
      }
    }
  }

  private Run run(AttemptRef attempt) {
    Run run = state.run(attempt.run());
    if (run == null) {
      throw new IllegalStateException("Expected a live run for " + attempt);
    }
    return run;
  }

  Decision cordon(Command.Cordon command) {
    String id = command.workerId();
    Event.WorkerCordoned before = state.cordons().of(id);
    Fleet.Registration registered = fleet.registration(id);
    if (before == null && registered == null) {
      return Decision.refuse(command.call(), notFound(id));
    }
    if (before == null && state.cordons().all().size() >= Limits.MAX_CORDONS) {
      return Decision.refuse(
          command.call(),
          new Refusal(
              RefusalCode.TOO_LARGE,
              Limits.MAX_CORDONS
                  + " workers are cordoned, which is the limit: uncordon those that are gone for good."));
    }
    Draft draft = new Draft();
    String drained = before == null ? "" : before.drainedIncarnation();
    // What is registered here can be behind: a process that is named counts.
    if (command.drain() && !command.incarnation().isEmpty()) {
      drained = command.incarnation();
    } else if (command.drain() && registered != null) {
      drained = registered.life().incarnation();
    }
    if (before == null || !before.drainedIncarnation().equals(drained)) {
      draft.add(new Event.WorkerCordoned(id, drained, command.actor()));
    }
    if (command.drain() && !drained.isEmpty()) {
      draft.add(new Effect.SendDrain(new WorkerLife(id, drained)));
    }
    draft.add(new Effect.Reply(command.call(), new Answer.ServiceRecorded()));
    return draft.decision();
  }

  Decision uncordon(CallId call, String id) {
    Effect done = new Effect.Reply(call, new Answer.ServiceRecorded());
    if (state.cordons().has(id)) {
      return Decision.of(new Event.WorkerUncordoned(id), done);
    }
    return fleet.registration(id) == null
        ? Decision.refuse(call, notFound(id))
        : Decision.say(done);
  }

  private static Refusal notFound(String id) {
    return new Refusal(
        RefusalCode.WORKER_NOT_FOUND,
        "No worker '" + id + "' is registered or cordoned: 'baton workers' lists them.");
  }

  Decision lose(WorkerLife life, String reason) {
    Draft draft = new Draft();
    state.workers().running(life).stream()
        .limit(Limits.LOSS_SLICE)
        .forEach(attempt -> attempts.lose(new Place(run(attempt), attempt.task()), reason, draft));
    return draft.decision();
  }
}
