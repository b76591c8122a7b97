package dev.baton.scheduler.simulation;

import dev.baton.coordination.simulation.Happening;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.scheduler.simulation.TaskBook.Run;
import dev.baton.scheduler.simulation.TaskBook.Task;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Notices what is due and does not happen, once nobody is in the way: a run or an attempt that
 * should have timed out, a task that waits though its time has come and an idle worker offers its
 * type.
 */
final class Lateness {
  private static final long TOLERANCE_MS = 1_000;
  private static final long SETTLED_MS = 3_000;

  /** What the last slow pool of the faults holds up may take so long. */
  private static final long LEFTOVER_MS = Duration.ofSeconds(8).toMillis();

  private final Cluster cluster;
  private final long calmSince;

  /** Since when a task could have been started; true time, ms. */
  private final Map<Task, Long> startable = new HashMap<>();

  /** Faults have ended now. */
  Lateness(Cluster cluster) {
    this.cluster = cluster;
    this.calmSince = cluster.trueMillis();
  }

  /** To be asked several times a second. */
  void look() {
    SimulatedNode.Life leader = null;
    for (SimulatedNode node : cluster.nodes()) {
      SimulatedNode.Life life = node.life();
      if (life != null && leadsForSome(life)) {
        leader = life;
      }
    }
    if (leader == null) {
      startable.clear();
      return;
    }
    for (Run run : cluster.observer().book().runs()) {
      if (!run.hasEnded()) {
        look(run, leader);
      }
    }
  }

  private boolean leadsForSome(SimulatedNode.Life life) {
    return life.watch().isLeading()
        && life.watch().term() == cluster.observer().leaderRevision()
        && life.watch().term() == cluster.observer().term()
        && leadsForMillis(life) >= SETTLED_MS;
  }

  private long leadsForMillis(SimulatedNode.Life life) {
    return (cluster.world().nanoTime() - life.watch().leadsSinceNanos()) / 1_000_000;
  }

  private void look(Run run, SimulatedNode.Life leader) {
    cluster.coverage().see(Sight.TIMERS_LOOKED_AT);
    long now = leader.journalTime();
    long timeout = run.workflow.timeout().toMillis();
    cluster
        .judge()
        .check(
            Invariant.TIMERS,
            run.stopping != null || timeout == 0 || now - run.createdAt - timeout < TOLERANCE_MS,
            "Run %s should have timed out %d ms ago",
            run.id,
            now - run.createdAt - timeout);
    for (Task task : run.tasks) {
      if (task.status == TaskStatus.RUNNING) {
        checkAttempt(run, task, leader);
      }
      boolean due = task.status == TaskStatus.READY && now >= task.dueAt;
      if (due && isOffered(task, leader)) {
        checkStart(run, task);
      } else {
        startable.remove(task);
      }
    }
  }

  /** The leader's own clock for an attempt starts when it is assigned, or when a term begins. */
  private void checkAttempt(Run run, Task task, SimulatedNode.Life leader) {
    long timeout = task.spec.timeout().toMillis();
    if (timeout == 0) {
      return;
    }
    long calm = cluster.trueMillis() - calmSince - LEFTOVER_MS;
    long assigned = leader.journalTime() - task.assignedAt;
    long since = Math.min(calm, Math.min(assigned, leadsForMillis(leader)));
    cluster
        .judge()
        .check(
            Invariant.TIMERS,
            since < timeout + Limits.BACKSTOP.toMillis() + TOLERANCE_MS,
            "Task %s of run %s has run for %d ms, and may for %d",
            task.spec.id(),
            run.id,
            since,
            timeout);
  }

  private boolean isOffered(Task task, SimulatedNode.Life leader) {
    if (cluster.etcd().count(Happening.WATCH_EVENT_LOST) > 0) {
      // The leader may not know a worker until it lists them again, after minutes.
      return false;
    }
    for (SimulatedWorker worker : cluster.workers()) {
      SimulatedWorker.Life life = worker.life();
      if (life != null && life.offers(task.spec.type()) && isIdle(worker, life, leader)) {
        return true;
      }
    }
    return false;
  }

  private boolean isIdle(
      SimulatedWorker worker, SimulatedWorker.Life life, SimulatedNode.Life leader) {
    return life.isHeld()
        && !life.isDraining()
        && !cluster.observer().book().isCordoned(worker.id())
        && cluster.trueMillis() - worker.wellSinceMillis() >= SETTLED_MS
        && life.isConnectedTo(leader.process().name())
        && life.handlers() == 0
        && life.protocol().outboxCount() == 0
        && cluster.observer().book().running(life.name()) == 0;
  }

  private void checkStart(Run run, Task task) {
    long now = cluster.trueMillis();
    long since = startable.computeIfAbsent(task, t -> now);
    cluster
        .judge()
        .check(
            Invariant.TIMERS,
            now - since <= TOLERANCE_MS,
            "Task %s of run %s has been due for %d ms, and a worker is idle",
            task.spec.id(),
            run.id,
            now - since);
  }
}
