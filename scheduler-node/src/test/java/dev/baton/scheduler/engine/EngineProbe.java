package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Effect.SendAssign;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.Workflow;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What the engine costs a task: decide and apply, diamonds of five tasks, 256 runs at once, beside
 * 100,000 live tasks that wait. Not a test; run its main method. Arguments: live tasks that wait,
 * workers, seconds.
 */
final class EngineProbe {
  private static final int RUNS_AT_ONCE = 256;
  private static final int RETAINED = 100_000;

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Definitions definitions = new Definitions();
  private final ClusterState state = new ClusterState(1, definitions);
  private final Fleet fleet = new Fleet();
  private final Engine engine = new Engine(state, fleet);
  private final Deque<SendAssign> sent = new ArrayDeque<>();
  private final Map<String, long[]> costs = new java.util.TreeMap<>();
  private long now = 1_800_000_000_000L;
  private long seq = 1;
  private int index;
  private long drawn;
  private long tasks;
  private int preloaded;

  public static void main(String[] args) {
    int waiting = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
    int workers = args.length > 1 ? Integer.parseInt(args[1]) : 4;
    int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 5;
    EngineProbe probe = new EngineProbe();
    probe.preload(waiting);
    probe.addWorkers(workers);
    for (int i = 0; i < 4; i++) {
      probe.measure(seconds);
    }
  }

  private void preload(int waiting) {
    Flow ready = Flow.wide(10_000).type("nobody");
    Workflow workflow = ready.workflow();
    preloaded = waiting / 10_000;
    for (int i = 0; i < preloaded; i++) {
      submit(workflow, ready.hash());
    }
  }

  private void addWorkers(int count) {
    for (int i = 0; i < count; i++) {
      WorkerLife life = new WorkerLife("worker-" + i, "incarnation-" + i);
      fleet.register(
          new Fleet.Registration(
              life, Set.of(Flow.TYPE), 2 * RUNS_AT_ONCE / count, Map.of(), "a:1", "v", 1));
      fleet.streamOpened(life, now);
    }
  }

  private void measure(int seconds) {
    Flow diamond = Flow.of("a", "b < a", "c < a", "d < a", "e < b c d");
    Workflow workflow = diamond.workflow();
    SpecHash hash = diamond.hash();
    costs.clear();
    tasks = 0;
    long allocated = THREADS.getCurrentThreadAllocatedBytes();
    long cpu = THREADS.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    while (System.nanoTime() - start < seconds * 1_000_000_000L) {
      round(workflow, hash);
    }
    System.out.printf(
        "%.2f us of CPU and %d bytes a task, beside %d live tasks%n",
        (THREADS.getCurrentThreadCpuTime() - cpu) / 1e3 / tasks,
        (THREADS.getCurrentThreadAllocatedBytes() - allocated) / tasks,
        state.liveTasks());
    costs.forEach((what, cost) ->
        System.out.printf(
            "    %-16s %9d times, %.2f us each%n", what, cost[0], cost[1] / 1e3 / cost[0]));
  }

  /** Fills up with runs, assigns what can be, ends a batch of it, retires what has ended. */
  private void round(Workflow workflow, SpecHash hash) {
    now += 5;
    fleet.connected().forEach(life -> fleet.heard(life, now));
    seq++;
    index = 0;
    while (state.runs().size() - preloaded < RUNS_AT_ONCE) {
      submit(workflow, hash);
    }
    while (!decide(new Command.AssignNext()).isNothing()) {
      tasks++;
    }
    for (int i = 0; i < 20 && !sent.isEmpty(); i++) {
      SendAssign next = sent.removeFirst();
      Run run = Objects.requireNonNull(state.run(next.attempt().run()));
      AttemptName name = run.nameOf(next.attempt().task(), next.attempt().attempt());
      decide(new Command.TakeResult(next.to(), name, EngineFixture.success()));
    }
    while (!state.ended().isEmpty()) {
      decide(new Command.Retire(state.ended().iterator().next().number(), 0));
    }
    if (state.retained().size() > RETAINED) {
      decide(
          new Command.DropHistory(Objects.requireNonNull(state.retained().oldest()).historySeq()));
    }
  }

  private void submit(Workflow workflow, SpecHash hash) {
    decide(
        new Command.Submit(
            new CallId(1),
            new RunId(1, ++drawn),
            hash,
            workflow,
            "default",
            Map.of(),
            "ann",
            "",
            drawn,
            RunParams.NONE,
            false));
  }

  private Decision decide(Command command) {
    long start = System.nanoTime();
    Decision decision = engine.decide(command, new Engine.Moment(now, seq << 16 | index));
    for (Event event : decision.events()) {
      if (event instanceof Event.SpecAdded added && command instanceof Command.Submit submit) {
        definitions.put(added.number(), submit.workflow());
      }
      state.apply(event, seq, now);
      index++;
    }
    for (Effect effect : decision.effects()) {
      if (effect instanceof SendAssign assign) {
        sent.add(assign);
      }
    }
    long[] cost = costs.computeIfAbsent(command.getClass().getSimpleName(), k -> new long[2]);
    cost[0]++;
    cost[1] += System.nanoTime() - start;
    return decision;
  }
}
