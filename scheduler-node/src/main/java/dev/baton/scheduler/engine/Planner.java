package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Fleet.Registration;
import dev.baton.scheduler.engine.Fleet.Standing;
import dev.baton.scheduler.engine.ReadyQueues.Head;
import dev.baton.scheduler.engine.ReadyQueues.ReadyTask;
import org.jspecify.annotations.Nullable;

/**
 * Chooses what starts next, and where: of all types that some worker has room for, the one whose
 * most urgent task has the highest priority, then the oldest; of that type what is next, which may
 * be a lower priority's turn; on the worker with the smallest share of its slots in use, counting
 * what was just sent.
 *
 * <p>The turn does not rank the type: else a type in the turn of its low priority, and its urgent
 * tasks behind it, would wait for ever on workers that another type keeps busy.
 */
final class Planner {
  private final ClusterState state;
  private final Fleet fleet;

  Planner(ClusterState state, Fleet fleet) {
    this.state = state;
    this.fleet = fleet;
  }

  /** A task and the worker that gets it. */
  record Choice(ReadyTask task, Registration worker) {}

  /** Looks at what workers can do, not at what waits: types without workers cost nothing. */
  @Nullable Choice next(long now) {
    Head best = null;
    Registration bestWorker = null;
    for (String capability : fleet.capabilities()) {
      Head head = capability.equals(Fleet.ANY) ? headOfAny() : state.ready().head(capability);
      if (head == null || (best != null && head.compareTo(best) >= 0)) {
        continue;
      }
      Registration worker = workerFor(head.type(), now);
      if (worker != null) {
        best = head;
        bestWorker = worker;
      }
    }
    if (best == null || bestWorker == null) {
      return null;
    }
    ReadyTask next = state.ready().next(best.type());
    return next == null ? null : new Choice(next, bestWorker);
  }

  private @Nullable Head headOfAny() {
    for (Head head : state.ready().heads()) {
      if (!head.type().equals(Fleet.SHELL)) {
        return head;
      }
    }
    return null;
  }

  private @Nullable Registration workerFor(String type, long now) {
    Registration best = null;
    long bestUsed = 0;
    for (Registration worker : fleet.registrations()) {
      if (worker.slots() <= 0 || !worker.offers(type)) {
        continue;
      }
      int used = fleet.used(worker.life(), state.workers());
      if (used >= worker.slots()
          || (best != null && (long) used * best.slots() >= bestUsed * worker.slots())
          || state.cordons().has(worker.life().workerId())
          || fleet.isFull(worker.life(), now)
          || fleet.standing(worker.life(), now) != Standing.CONNECTED) {
        continue;
      }
      best = worker;
      bestUsed = used;
    }
    return best;
  }
}
