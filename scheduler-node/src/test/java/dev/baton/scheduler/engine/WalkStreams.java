package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The workers of a walk, their keys, and streams that delay, break and lose. */
final class WalkStreams {
  private static final List<String> ALL_TYPES = List.of("*", "shell");

  private final Walk walk;
  private final Random random;
  private final Set<AttemptName> executed = new HashSet<>();
  private final List<WalkWorker> workers = new ArrayList<>();
  private final List<Effect> leaving = new ArrayList<>();
  private final List<Command> late = new ArrayList<>();
  private int drawn;

  WalkStreams(Walk walk, Random random) {
    this.walk = walk;
    this.random = random;
    for (int i = 0; i < 3 + random.nextInt(3); i++) {
      workers.add(
          new WalkWorker(new WorkerLife("w" + i, "1"), 1 + random.nextInt(4), executed, random));
    }
  }

  void registerAll() {
    workers.forEach(this::register);
  }

  /** An effect is decided, and durable. */
  void send(Effect effect) {
    leaving.add(effect);
  }

  WalkWorker any() {
    return workers.get(random.nextInt(workers.size()));
  }

  private @Nullable WalkWorker pick(Predicate<WalkWorker> which) {
    List<WalkWorker> some = workers.stream().filter(which).toList();
    return some.isEmpty() ? null : some.get(random.nextInt(some.size()));
  }

  void heard() {
    for (WalkWorker worker : workers) {
      if (worker.connected && !worker.silent) {
        walk.fleet().heard(worker.life, walk.now());
      }
    }
  }

  /** What had not left the old leader is gone; some workers have found the new one. */
  void leaderChanged() {
    leaving.clear();
    for (WalkWorker worker : workers) {
      if (worker.connected) {
        cut(worker);
        if (random.nextInt(3) > 0) {
          connect(worker);
        }
      }
    }
  }

  /** This life says what it holds, if it can. */
  void askForInventory(WorkerLife life) {
    WalkWorker worker = pick(w -> w.life.equals(life) && w.connected);
    if (worker != null) {
      worker.inventory();
    }
  }

  void disturb() {
    WalkWorker worker = any();
    int die = random.nextInt(80);
    if (die < 6) {
      if (worker.connected) {
        cut(worker);
      }
    } else if (die < 40) {
      if (!worker.connected) {
        connect(worker);
      }
    } else if (die < 43) {
      worker.silent = !worker.silent;
    } else if (die < 46) {
      if (walk.fleet().isRegistered(worker.life)) {
        walk.fleet().unregister(worker.life.workerId());
      }
    } else if (die < 66) {
      if (walk.fleet().registration(worker.life.workerId()) == null) {
        register(worker);
      }
    } else if (die < 69) {
      restart(worker, random.nextInt(3) > 0);
    } else if (die < 71) {
      replace(worker);
    } else if (die < 75) {
      worker.changeRoom();
    } else if (worker.connected) {
      worker.inventory();
    }
  }

  private void register(WalkWorker worker) {
    register(
        worker,
        switch (worker.life.workerId()) {
          case "w0" -> ALL_TYPES;
          case "w1" -> List.of("*");
          default -> List.of("echo", "zip");
        });
  }

  private void register(WalkWorker worker, List<String> types) {
    walk.fleet()
        .register(
            new Fleet.Registration(
                worker.life, Set.copyOf(types), worker.slots, Map.of(), "a:1", "v", walk.seq()));
  }

  private void connect(WalkWorker worker) {
    worker.connected = true;
    worker.silent = false;
    walk.fleet().streamOpened(worker.life, walk.now());
    worker.inventory();
  }

  /** What was on its way is gone, but for some of what the leader had read already. */
  private void cut(WalkWorker worker) {
    for (Command message : worker.up) {
      if (!(message instanceof Command.TakeInventory) && random.nextInt(3) == 0) {
        late.add(message);
      }
    }
    worker.up.clear();
    worker.down.clear();
    worker.connected = false;
    walk.fleet().streamClosed(worker.life, walk.now());
  }

  /** A new incarnation; of a new process, or of one that went on. */
  private void restart(WalkWorker worker, boolean dies) {
    if (worker.connected) {
      cut(worker);
    }
    if (dies) {
      worker.die();
    }
    boolean wasRegistered = walk.fleet().isRegistered(worker.life);
    worker.life = nextLife(worker.life);
    if (wasRegistered || walk.fleet().registration(worker.life.workerId()) == null) {
      register(worker);
    }
  }

  private WorkerLife nextLife(WorkerLife life) {
    return new WorkerLife(life.workerId(), "i" + ++drawn);
  }

  /**
   * A second process takes the id of one that lost its lease and goes on; or the first one ends.
   */
  private void replace(WalkWorker worker) {
    List<WalkWorker> same =
        workers.stream().filter(w -> w.life.workerId().equals(worker.life.workerId())).toList();
    if (same.size() == 1) {
      WalkWorker second = new WalkWorker(nextLife(worker.life), worker.slots, executed, random);
      workers.add(second);
      register(second);
    } else {
      removeUnregistered(worker.life.workerId());
    }
  }

  private void removeUnregistered(String workerId) {
    WalkWorker gone =
        pick(w -> w.life.workerId().equals(workerId) && !walk.fleet().isRegistered(w.life));
    if (gone != null) {
      if (gone.connected) {
        cut(gone);
      }
      workers.remove(gone);
    }
  }

  /** Assignments leave their pool in any order and are checked there; the rest keeps its order. */
  void leaveOne() {
    if (leaving.isEmpty()) {
      return;
    }
    int chosen = random.nextInt(leaving.size());
    if (!(leaving.get(chosen) instanceof Effect.SendAssign)) {
      chosen = 0;
      while (chosen < leaving.size() - 1 && leaving.get(chosen) instanceof Effect.SendAssign) {
        chosen++;
      }
    }
    Effect effect = leaving.remove(chosen);
    WalkWorker.Message message =
        switch (effect) {
          case Effect.SendAssign assign -> mayLeave(assign) ? message(assign) : null;
          case Effect.SendCancel cancel ->
              new WalkWorker.Message(cancel.to(), cancel.name(), cancel);
          case Effect.SendAck ack -> new WalkWorker.Message(ack.to(), ack.name(), ack);
          case Effect.SendDrain drain -> null;
          case Effect.Reply reply -> null;
        };
    if (message != null && random.nextInt(30) > 0) {
      WalkWorker worker = pick(w -> w.connected && w.life.equals(message.to()));
      if (worker != null) {
        worker.down.add(message);
      }
    }
  }

  private WalkWorker.Message message(Effect.SendAssign assign) {
    AttemptRef attempt = assign.attempt();
    Run run = Objects.requireNonNull(walk.state().run(attempt.run()));
    return new WalkWorker.Message(
        assign.to(), run.nameOf(attempt.task(), attempt.attempt()), assign);
  }

  private boolean mayLeave(Effect.SendAssign assign) {
    AttemptRef attempt = assign.attempt();
    Run run = walk.state().run(attempt.run());
    if (run == null || run.isStopping()) {
      return false;
    }
    TaskState task = run.task(attempt.task());
    Attempt last = task.lastAttempt();
    return task.status() == TaskStatus.RUNNING
        && last != null
        && last.number() == attempt.attempt()
        && walk.state().workers().life(last.worker()).equals(assign.to());
  }

  void deliverDown() {
    WalkWorker worker = pick(w -> !w.down.isEmpty());
    if (worker != null) {
      deliverDown(worker);
    }
  }

  private void deliverDown(WalkWorker worker) {
    WalkWorker.Message message = worker.down.removeFirst();
    walk.note(worker.life, "hears", message);
    worker.hear(message);
  }

  void deliverUp() {
    WalkWorker worker = pick(w -> !w.up.isEmpty());
    if (!late.isEmpty() && random.nextInt(5) == 0) {
      walk.decide(late.remove(random.nextInt(late.size())));
    } else if (worker != null) {
      walk.decide(worker.up.removeFirst());
    }
  }

  // The end.

  /** Every worker id has one process, which is registered, connected, and can do everything. */
  void mend() {
    for (WalkWorker worker : List.copyOf(workers)) {
      String id = worker.life.workerId();
      if (workers.stream().anyMatch(w -> w.life.workerId().equals(id) && isRegistered(w))) {
        removeUnregistered(id);
      }
    }
    for (WalkWorker worker : workers) {
      worker.freeRoom();
      register(worker, ALL_TYPES);
      if (!worker.connected) {
        connect(worker);
      }
      worker.silent = false;
    }
  }

  private boolean isRegistered(WalkWorker worker) {
    return walk.fleet().isRegistered(worker.life);
  }

  void askForInventories() {
    workers.forEach(WalkWorker::inventory);
  }

  /** Everything that is said is heard, and handlers end, until nothing moves. */
  void settle() {
    boolean moved = true;
    while (moved) {
      moved = !leaving.isEmpty();
      while (!leaving.isEmpty()) {
        leaveOne();
      }
      for (WalkWorker worker : workers) {
        while (!worker.down.isEmpty()) {
          deliverDown(worker);
        }
        worker.finishOne();
        while (!worker.up.isEmpty()) {
          walk.decide(worker.up.removeFirst());
          moved = true;
        }
      }
    }
  }

  boolean isIdle() {
    return workers.stream().allMatch(WalkWorker::isIdle);
  }
}
