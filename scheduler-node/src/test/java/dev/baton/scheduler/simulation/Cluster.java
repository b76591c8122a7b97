package dev.baton.scheduler.simulation;

import dev.baton.coordination.Keys;
import dev.baton.coordination.simulation.SimulatedEtcd;
import dev.baton.coordination.simulation.World;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.Resolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** All processes of a seed, what connects them, and what watches them. */
final class Cluster {
  static final int NODES = 3;

  private final World world;
  private final SimulatedEtcd etcd;
  private final Keys keys = new Keys("baton");
  private final Plan plan;
  private final Flows flows;
  private final Resolver resolver;
  private final Network network;
  private final Conditions conditions = new Conditions();
  private final Judge judge = new Judge();
  private final Coverage coverage = new Coverage();
  private final Trace trace;
  private final JournalObserver observer;
  private final WireWatch wireWatch;
  private final List<SimulatedNode> nodes = new ArrayList<>();
  private final List<SimulatedWorker> workers = new ArrayList<>();
  private final Users users;
  private final Map<Long, Long> loadedBefore = new HashMap<>();

  /**
   * @param resolver of expressions; it remembers what it has compiled, and so outlives a seed
   */
  Cluster(long seed, Resolver resolver) {
    this.world = new World(seed);
    this.etcd = new SimulatedEtcd(world);
    this.resolver = resolver;
    this.plan = Plan.draw(world.random());
    this.flows = new Flows(world.random());
    this.network = new Network(world);
    this.trace = new Trace(world);
    TaskBook book = new TaskBook(judge, flows::workflow, this::slots);
    this.observer =
        new JournalObserver(
            keys,
            judge,
            coverage,
            trace,
            book,
            new JournalObserver.Surroundings(
                flows::workflow, this::trueMillis, etcd::peekRange, this::isFresh));
    this.wireWatch = new WireWatch(judge, coverage, observer, this::trueMillis, this::isWell);
    book.beforeEnd(wireWatch::ended);
    etcd.observe(observer::commit);
    for (int i = 0; i < NODES; i++) {
      nodes.add(new SimulatedNode(this, "s" + (i + 1)));
    }
    for (int i = 0; i < plan.workers(); i++) {
      workers.add(new SimulatedWorker(this, "w" + (i + 1), plan.slots(), i % 2 == 0));
    }
    this.users = new Users(this);
  }

  void start() {
    nodes.forEach(node -> network.after(Duration.ofMillis(random().nextInt(200)), node::start));
    workers.forEach(
        worker -> network.after(Duration.ofMillis(random().nextInt(500)), worker::start));
  }

  private int slots(WorkerLife life) {
    return plan.slots();
  }

  /** A node leads in this term; it had loaded for the first time at that true time. */
  void leads(long term, long firstStandbyNanos) {
    loadedBefore.put(term, firstStandbyNanos / 1_000_000);
  }

  /** The leader of this term has loaded after the last sign of the one before it. */
  private boolean isFresh(long term, long lastHeadMillis) {
    return loadedBefore.getOrDefault(term, 0L) >= lastHeadMillis;
  }

  private boolean isWell(WorkerLife life) {
    for (SimulatedWorker worker : workers) {
      SimulatedWorker.Life now = worker.life();
      if (now != null && now.name().equals(life)) {
        return now.isHeld()
            && !worker.isPaused()
            && worker.wellSinceMillis() <= observer.earliestDecisionMillis()
            && etcd.peek(keys.worker(life.workerId())).isPresent();
      }
    }
    return false;
  }

  long trueMillis() {
    return world.nanoTime() / 1_000_000;
  }

  World world() {
    return world;
  }

  RandomGenerator random() {
    return world.random();
  }

  SimulatedEtcd etcd() {
    return etcd;
  }

  Keys keys() {
    return keys;
  }

  Plan plan() {
    return plan;
  }

  Flows flows() {
    return flows;
  }

  Resolver resolver() {
    return resolver;
  }

  Network network() {
    return network;
  }

  Conditions conditions() {
    return conditions;
  }

  Judge judge() {
    return judge;
  }

  Coverage coverage() {
    return coverage;
  }

  Trace trace() {
    return trace;
  }

  JournalObserver observer() {
    return observer;
  }

  WireWatch wireWatch() {
    return wireWatch;
  }

  List<SimulatedNode> nodes() {
    return nodes;
  }

  List<SimulatedWorker> workers() {
    return workers;
  }

  Users users() {
    return users;
  }

  SimulatedNode node(String id) {
    return nodes.stream().filter(node -> node.id().equals(id)).findFirst().orElseThrow();
  }
}
