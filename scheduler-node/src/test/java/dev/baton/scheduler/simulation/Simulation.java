package dev.baton.scheduler.simulation;

import dev.baton.coordination.simulation.Happening;
import dev.baton.scheduler.loop.NodeStatus;
import dev.baton.scheduler.loop.Role;
import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.workflow.Resolver;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/** One seed, from an empty etcd to a cluster in which nothing is left to do. */
final class Simulation {
  private static final Duration START_WITHIN = Duration.ofSeconds(30);

  /** A watch that has lost an event is found out when its folder is listed again, after minutes. */
  private static final Duration END_WITHIN = Duration.ofMinutes(8);

  private static final Duration SETTLE = Duration.ofSeconds(5);
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);
  private static final int LEAST_EVENTS = 5_000;

  private final long seed;
  private final Cluster cluster;
  private boolean happy;

  Simulation(long seed, Resolver resolver) {
    this.seed = seed;
    this.cluster = new Cluster(seed, resolver);
  }

  /** Without faults. */
  Simulation happy() {
    happy = true;
    return this;
  }

  Simulation keepingTheWholeTrace() {
    cluster.trace().keepAll();
    return this;
  }

  /** How a seed went. */
  record Result(long seed, long events, long traceHash, Coverage coverage, long kindsOfFault) {}

  long seed() {
    return seed;
  }

  List<String> lastLines() {
    return cluster.trace().last();
  }

  long events() {
    return cluster.world().events();
  }

  /** Throws the violation of an invariant. */
  Result run() {
    cluster.start();
    until(START_WITHIN, "a first leader", this::isLed);
    Duration time = cluster.plan().faults();
    cluster.users().begin(cluster.plan().runs(), time);
    Nemesis nemesis = new Nemesis(cluster);
    if (!happy) {
      nemesis.begin(time);
    }
    runFor(time);
    nemesis.end();
    cluster.users().uncordonAll();
    cluster.trace().add("nemesis", "has ended");
    Lateness lateness = new Lateness(cluster);
    cluster.network().after(SETTLE, () -> look(lateness));
    until(END_WITHIN, "the end of all runs", this::isAllDone);
    while (events() < LEAST_EVENTS) {
      runFor(LOOK_EVERY);
    }
    cluster.users().drainOne(!happy);
    until(END_WITHIN, "the end of a drained worker", cluster.users()::hasDrainedOne);
    until(END_WITHIN, "quiet", this::isQuiet);
    compareAll();
    countAll();
    return new Result(
        seed,
        events(),
        cluster.trace().hash() * 31 + cluster.world().fingerprint(),
        cluster.coverage(),
        cluster.coverage().kindsOfFault());
  }

  private void step() {
    cluster.world().step();
    cluster.judge().verdict();
  }

  private void runFor(Duration time) {
    long end = cluster.world().nanoTime() + time.toNanos();
    boolean[] over = new boolean[1];
    cluster.world().after(time, () -> over[0] = true);
    while (!over[0] && cluster.world().nanoTime() <= end) {
      step();
    }
  }

  void until(Duration bound, String what, BooleanSupplier condition) {
    long end = cluster.world().nanoTime() + bound.toNanos();
    while (!condition.getAsBoolean()) {
      cluster
          .judge()
          .check(
              Invariant.LIVENESS,
              cluster.world().nanoTime() < end,
              "Expected %s within %d s, but %s",
              what,
              bound.toSeconds(),
              standing());
      runFor(LOOK_EVERY);
    }
  }

  private String standing() {
    StringBuilder text = new StringBuilder();
    for (SimulatedNode node : cluster.nodes()) {
      SimulatedNode.Life life = node.life();
      text.append(node.id()).append(' ');
      text.append(life == null ? "is down" : life.watch().role());
      if (life != null && life.hasLoop()) {
        text.append(" at ").append(life.loop().status().seq());
      }
      text.append(", ");
    }
    for (SimulatedWorker worker : cluster.workers()) {
      SimulatedWorker.Life life = worker.life();
      text.append(worker.id())
          .append(
              life == null
                  ? " is down, "
                  : " runs %d and keeps %d (%s), "
                      .formatted(life.handlers(), life.protocol().outboxCount(), life.streams()));
    }
    text.append(cluster.users().open()).append(" calls are open, live are ");
    for (TaskBook.Run run : cluster.observer().book().runs()) {
      if (!run.hasEnded()) {
        text.append(run.number).append(run.stopping == null ? ": " : " (stopping): ");
        for (TaskBook.Task task : run.tasks) {
          text.append(task.status).append(' ').append(task.spec.type()).append(' ');
        }
      }
    }
    return text.toString();
  }

  private boolean isLed() {
    return cluster.nodes().stream()
        .map(SimulatedNode::life)
        .anyMatch(life -> life != null && life.watch().isLeading());
  }

  private boolean isAllDone() {
    return cluster.users().open() == 0
        && cluster.observer().book().runs().stream().allMatch(TaskBook.Run::hasEnded)
        && cluster.workers().stream()
            .map(SimulatedWorker::life)
            .allMatch(
                life -> life != null && life.protocol().outboxCount() == 0 && life.handlers() == 0);
  }

  private boolean isQuiet() {
    long seq = cluster.observer().seq();
    boolean follow =
        cluster.nodes().stream()
            .map(SimulatedNode::life)
            .allMatch(life -> {
              if (life == null || !life.hasLoop()) {
                return false;
              }
              NodeStatus status = life.loop().status();
              return status.seq() == seq
                  && (status.role() == Role.LEADING || status.role() == Role.STANDBY);
            });
    return follow && isLed();
  }

  /** What should have happened while nobody was in the way. */
  private void look(Lateness lateness) {
    lateness.look();
    cluster.network().after(LOOK_EVERY, () -> look(lateness));
  }

  private void compareAll() {
    cluster.observer().compareLoad();
    for (SimulatedNode node : cluster.nodes()) {
      SimulatedNode.Life life = node.life();
      if (life != null) {
        life.loop()
            .read(
                0,
                LOOK_EVERY,
                view -> {
                  cluster.observer().compareNow(node.id(), view.seq(), view.state());
                  return view.seq();
                },
                (seq, refusal) -> {});
      }
    }
    runFor(LOOK_EVERY);
  }

  private void countAll() {
    Coverage coverage = cluster.coverage();
    for (TaskBook.Run run : cluster.observer().book().runs()) {
      coverage.see(
          switch (run.status) {
            case SUCCESS -> Sight.RUN_SUCCESS;
            case FAILED, RUNNING -> Sight.RUN_FAILED;
            case CANCELLED -> Sight.RUN_CANCELLED;
            case TIMEOUT -> Sight.RUN_TIMEOUT;
          });
    }
    count(Happening.UNKNOWN_OUTCOME, Sight.UNKNOWN_OUTCOME);
    count(Happening.LATE_APPLICATION, Sight.LATE_APPLICATION);
    count(Happening.COMPACTION, Sight.COMPACTION);
    count(Happening.COMPACTED, Sight.COMPACTED_READ);
    count(Happening.WATCH_BROKEN, Sight.WATCH_BROKEN);
    count(Happening.WATCH_EVENT_LOST, Sight.WATCH_EVENT_LOST);
    count(Happening.ELECTION, Sight.ETCD_ELECTION);
    count(Happening.LEASE_EXPIRED, Sight.LEASE_EXPIRED);
  }

  private void count(Happening happening, Sight sight) {
    cluster.coverage().see(sight, cluster.etcd().count(happening));
  }
}
