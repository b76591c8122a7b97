package dev.baton.scheduler.engine;

import static dev.baton.scheduler.engine.WalkInvariants.check;

import dev.baton.scheduler.engine.Fleet.Standing;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.WorkerLife;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * One walk: a leader, a follower that applies the same events, users, workers, and streams that
 * delay and lose. One seed decides everything.
 */
final class Walk {
  private static final int KEPT_STEPS = 20;

  private final Random random;
  private final WalkCounts counts;
  private final WalkInvariants invariants = new WalkInvariants();
  private final WalkUsers users;
  private final WalkStreams streams;
  private final Deque<List<Object>> trace = new ArrayDeque<>();
  private Definitions definitions = new Definitions();
  private ClusterState state = new ClusterState(EngineFixture.GENERATION, definitions);
  private Definitions followersDefinitions = new Definitions();
  private ClusterState follower = new ClusterState(EngineFixture.GENERATION, followersDefinitions);
  private Fleet fleet = new Fleet();
  private Engine engine = new Engine(state, fleet);
  private long now = 1_800_000_000_000L;
  private long seq = 1;
  private int index;
  private int step;

  Walk(long seed, WalkCounts counts) {
    this.random = new Random(seed);
    this.counts = counts;
    this.users = new WalkUsers(this, random);
    this.streams = new WalkStreams(this, random);
  }

  ClusterState state() {
    return state;
  }

  Fleet fleet() {
    return fleet;
  }

  long now() {
    return now;
  }

  long seq() {
    return seq;
  }

  /** What was decided and heard in the last steps. */
  String lastSteps() {
    StringBuilder text = new StringBuilder();
    trace.forEach(notes -> notes.forEach(note -> text.append(note).append('\n')));
    return text.toString();
  }

  int step() {
    return step;
  }

  void run(int steps) {
    takeOver();
    streams.registerAll();
    for (step = 1; step <= steps; step++) {
      beginStep();
      passTime();
      act(random.nextInt(1000));
      if (step % 100 == 0) {
        compareStates();
      }
    }
    comeToRest();
  }

  private void beginStep() {
    if (trace.size() == KEPT_STEPS) {
      trace.removeFirst();
    }
    trace.add(new ArrayList<>());
    note("-- step " + step + " at " + now);
  }

  /** Texts are made only if they are read: notes are immutable values. */
  void note(Object... what) {
    if (trace.isEmpty()) {
      beginStep();
    }
    trace.getLast().addAll(List.of(what));
  }

  private void passTime() {
    now += random.nextInt(60);
    if (random.nextInt(200) == 0) {
      now += random.nextInt(20_000);
    }
    streams.heard();
  }

  private void act(int die) {
    if (die < 60) {
      users.submit();
    } else if (die < 260) {
      decide(new Command.AssignNext());
    } else if (die < 400) {
      streams.leaveOne();
    } else if (die < 540) {
      streams.deliverDown();
    } else if (die < 700) {
      streams.deliverUp();
    } else if (die < 770) {
      streams.any().finishOne();
    } else if (die < 870) {
      streams.disturb();
    } else if (die < 885) {
      users.cancelSomething();
    } else if (die < 888) {
      users.changeService(random.nextInt(10) == 0 ? "stranger" : streams.any().life.workerId());
    } else if (die < 895) {
      takeGarbage(streams.any());
    } else if (die < 898) {
      takeOver();
    } else if (die < 930) {
      loseWorkers(die < 902);
    } else if (die < 950) {
      meddle();
    } else {
      keepHouse();
    }
  }

  // The engine.

  Decision decide(Command command) {
    counts.count(command);
    if (random.nextInt(4) > 0) {
      seq++;
      index = 0;
    }
    note(command);
    StateImage before = random.nextInt(300) == 0 ? StateImage.of(state, now) : null;
    Decision decision = engine.decide(command, new Engine.Moment(now, seq << 16 | index));
    if (before != null) {
      StateImage.assertSame(before, StateImage.of(state, now));
    }
    if (!decision.isNothing()) {
      note(decision);
    }
    invariants.beforeApply(decision, state);
    for (Event event : decision.events()) {
      counts.count(event);
      if (event instanceof Event.SpecAdded added && command instanceof Command.Submit submit) {
        definitions.put(added.number(), submit.workflow());
        followersDefinitions.put(added.number(), submit.workflow());
      }
      invariants.beforeApply(event, command, state, fleet, now);
      state.apply(event, seq, now);
      follower.apply(event, seq, now);
      users.observe(event, seq);
      index++;
    }
    invariants.afterStep(command, decision, state, fleet, now);
    for (Effect effect : decision.effects()) {
      counts.count(effect);
      if (!(effect instanceof Effect.Reply)) {
        streams.send(effect);
      }
    }
    return decision;
  }

  private void compareStates() {
    StateImage live = StateImage.of(state, now);
    StateImage.assertSame(live, StateImage.of(follower, now));
    StateImage.assertSame(
        live, StateImage.of(StateImage.restored(state, EngineFixture.GENERATION), now));
  }

  /**
   * The follower leads; a new one loads. What had not left its node is gone, and so are streams.
   */
  private void takeOver() {
    compareStates();
    state = follower;
    definitions = followersDefinitions;
    followersDefinitions = new Definitions();
    state.specs().forEach(s -> followersDefinitions.put(s.number(), s.workflow()));
    follower = StateImage.restored(state, EngineFixture.GENERATION, followersDefinitions);
    Fleet old = fleet;
    fleet = new Fleet();
    engine = new Engine(state, fleet);
    old.registrations().forEach(fleet::register);
    seq++;
    index = 0;
    state.enterTerm(state.term() + 1);
    follower.enterTerm(state.term());
    fleet.openTerm(now);
    fleet.listed();
    decide(new Command.OpenTerm("n" + random.nextInt(3)));
    streams.leaderChanged();
  }

  // What comes from nowhere, and the leader's timers.

  private void takeGarbage(WalkWorker worker) {
    AttemptName junk =
        new AttemptName(random.nextBoolean() ? "junk" : users.randomId().toString(), "t0", 1);
    switch (random.nextInt(4)) {
      case 0 -> decide(new Command.TakeResult(worker.life, junk, EngineFixture.success()));
      case 1 -> decide(new Command.TakeReturn(worker.life, junk));
      case 2 -> decide(new Command.TakeCancelUnknown(worker.life, junk));
      default -> {
        if (!worker.connected) {
          decide(
              new Command.TakeInventory(
                  new WorkerLife("stranger", "1"),
                  List.of(junk),
                  List.of(junk),
                  List.of(junk),
                  List.of(junk)));
        }
      }
    }
  }

  private void loseWorkers(boolean withoutReason) {
    List<WorkerLife> busy = state.workers().busy();
    WorkerLife unlucky =
        withoutReason && !busy.isEmpty() ? busy.get(random.nextInt(busy.size())) : null;
    for (WorkerLife life : busy) {
      if (life.equals(unlucky) || fleet.standing(life, now) == Standing.LOST) {
        decide(new Command.LoseWorker(life, "worker " + life.workerId() + " is gone"));
        if (random.nextBoolean()) {
          streams.askForInventory(life);
        }
      }
    }
    fleet.forgetGone(state.workers());
  }

  /** Ends a running attempt from the leader's side. */
  private void meddle() {
    List<WorkerLife> busy = state.workers().busy();
    if (busy.isEmpty() || random.nextInt(4) > 0) {
      return;
    }
    WorkerLife life = busy.get(random.nextInt(busy.size()));
    AttemptRef attempt = state.workers().running(life).iterator().next();
    decide(
        random.nextInt(3) == 0
            ? new Command.FailInputs(attempt, "no such field")
            : new Command.TimeOutAttempt(attempt));
  }

  private void keepHouse() {
    if (state.nextDeadline() <= now) {
      decide(new Command.TimeOutRun(state.nextDeadlineRun()));
    }
    while (!state.ended().isEmpty() && random.nextInt(3) > 0) {
      decide(new Command.Retire(state.ended().iterator().next().number(), random.nextInt(2)));
    }
    Retained.Row oldest = state.retained().oldest();
    if (oldest != null && random.nextInt(10) == 0) {
      decide(new Command.DropHistory(oldest.historySeq() + random.nextInt(20)));
    }
    if (random.nextInt(20) == 0) {
      decide(new Command.InstallSnapshot(random.nextLong(seq)));
    }
    for (Spec spec : List.copyOf(state.specs())) {
      if (random.nextInt(20) == 0) {
        decide(new Command.DropSpec(spec.number()));
      }
    }
  }

  // The end.

  /** Faults stop: every run ends, everything leaves, and nothing is left. */
  private void comeToRest() {
    streams.mend();
    for (Event.WorkerCordoned cordon : List.copyOf(state.cordons().all())) {
      decide(new Command.Uncordon(new Command.CallId(0), cordon.workerId()));
    }
    for (int round = 0; !state.runs().isEmpty() || !streams.isIdle(); round++) {
      check(round < 2_000, "Comes to rest", state.runs().size());
      now += 1_000;
      streams.heard();
      if (round % 30 == 0) {
        streams.askForInventories();
      }
      restOnce();
    }
    compareStates();
    check(state.workers().all().isEmpty(), "No life is named", state.workers().all());
    check(state.liveTasks() == 0, "No task lives", state.liveTasks());
    check(state.ready().turns().isEmpty(), "No turn is kept", state.ready().turns());
    for (Spec spec : state.specs()) {
      check(spec.uses() == 0, "No definition is used", spec.number());
    }
  }

  private void restOnce() {
    boolean assigned = true;
    while (assigned) {
      assigned = !decide(new Command.AssignNext()).isNothing();
    }
    streams.settle();
    loseWorkers(false);
    while (state.nextDeadline() <= now) {
      decide(new Command.TimeOutRun(state.nextDeadlineRun()));
    }
    for (Run run : List.copyOf(state.ended())) {
      decide(new Command.Retire(run.number(), 0));
    }
  }
}
