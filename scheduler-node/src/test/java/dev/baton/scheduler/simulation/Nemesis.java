package dev.baton.scheduler.simulation;

import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.simulation.Commit;
import dev.baton.coordination.simulation.Faults;
import dev.baton.scheduler.journal.Ledger;
import dev.baton.scheduler.simulation.Coverage.Sight;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;

/**
 * Makes faults happen, by the seed: a few kinds of them in each, one after another and many at a
 * time, and each of its kinds once at least.
 */
final class Nemesis {
  private static final int MEMBERS = 3;
  private static final int LEAST_KINDS = 4;
  private static final int READS_AT_ONCE = 8;
  private static final Duration END_OF_PROCESS = Duration.ofSeconds(4);

  /** A kind of fault. */
  enum Kind {
    CRASH,
    HOST_LOST,
    PAUSE,
    RESIGN,
    CUT_ETCD,
    CUT_NODES,
    CUT_WORKERS,
    STREAM_BROKEN,
    STREAM_HUNG,
    ETCD_LOSSES,
    ETCD_LATE,
    ETCD_REFUSES,
    ETCD_HANGS,
    ETCD_ISOLATED,
    ETCD_ELECTION,
    NO_SPACE,
    COMPACTION,
    WATCH_BROKEN,
    WATCH_EVENT_LOST,
    CLOCK_JUMP,
    WORKER_CRASH,
    WORKER_PAUSE,
    WORKER_DRAIN,
    SLOW_POOL
  }

  private final Cluster cluster;
  private final RandomGenerator random;
  private final Faults etcd;
  private final List<Kind> kinds;
  private final List<Awaited> awaited = new ArrayList<>();
  private boolean over;

  /** What happens with the next write to the journal in such a term. */
  private record Awaited(LongPredicate term, Runnable task) {}

  Nemesis(Cluster cluster) {
    this.cluster = cluster;
    this.random = cluster.random();
    this.etcd = cluster.etcd().faults();
    this.kinds = draw();
    cluster.etcd().observe(this::committed);
  }

  private void committed(Commit commit) {
    if (awaited.isEmpty() || over) {
      return;
    }
    for (KeyValue put : commit.puts()) {
      if (put.key().equals(cluster.keys().head())) {
        long term = Ledger.head(put.value()).getTerm();
        List<Awaited> now = awaited.stream().filter(each -> each.term().test(term)).toList();
        awaited.removeAll(now);
        now.forEach(each -> each.task().run());
      }
    }
  }

  private List<Kind> draw() {
    Kind[] all = Kind.values();
    Set<Kind> drawn = EnumSet.noneOf(Kind.class);
    int count = LEAST_KINDS + random.nextInt(6);
    while (drawn.size() < count) {
      drawn.add(all[random.nextInt(all.length)]);
    }
    return new ArrayList<>(drawn);
  }

  void begin(Duration time) {
    for (Kind kind : kinds) {
      cluster
          .network()
          .after(Duration.ofNanos(random.nextLong(time.toNanos())), () -> strike(kind));
    }
    next();
  }

  private void next() {
    if (!over) {
      strike(kinds.get(random.nextInt(kinds.size())));
      cluster.network().after(between(100, 2_500), this::next);
    }
  }

  /** No more faults; what stood still, was cut off or has ended comes back. */
  void end() {
    over = true;
    etcd.healAll();
    cluster.network().heal();
    cluster.conditions().becomeCalm();
    for (SimulatedNode node : cluster.nodes()) {
      cluster.world().skewWall(node.id(), Duration.ZERO);
      node.resume();
      node.start();
      // One that was told to end ends yet.
      cluster.network().after(END_OF_PROCESS, node::start);
    }
    for (SimulatedWorker worker : cluster.workers()) {
      worker.resume();
      if (worker.life() != null && worker.life().isDraining()) {
        worker.crash(false);
      }
      worker.start();
    }
  }

  private void strike(Kind kind) {
    if (over) {
      return;
    }
    cluster.trace().add("nemesis", kind.toString());
    switch (kind) {
      case CRASH -> crash(false);
      case HOST_LOST -> crash(true);
      case PAUSE -> pause();
      case RESIGN -> resign();
      case CUT_ETCD -> cutEtcd();
      case CUT_NODES -> cut(anyNode().id(), anyNode().id(), Sight.FAULT_CUT_NODES);
      case CUT_WORKERS -> cut(anyNode().id(), anyWorker().id(), Sight.FAULT_CUT_WORKERS);
      case STREAM_BROKEN -> see(cluster.network().breakOne(), Sight.FAULT_STREAM_BROKEN);
      case STREAM_HUNG -> hang();
      case ETCD_LOSSES -> {
        etcd.loseRequests(random.nextInt(20) / 100.0);
        etcd.loseAnswers(random.nextInt(30) / 100.0);
        cluster.coverage().see(Sight.FAULT_ETCD_LOSSES);
        after(500, 6_000, this::kindEtcd);
      }
      case ETCD_LATE -> {
        etcd.applyLate(
            random.nextInt(3) == 0 ? 0.9 : random.nextInt(40) / 100.0, between(300, 8_000));
        etcd.answerStale(random.nextInt(40) / 100.0, between(300, 8_000));
        etcd.delay(Duration.ofMillis(1), between(5, 400));
        cluster.coverage().see(Sight.FAULT_ETCD_LATE);
        after(500, 6_000, this::kindEtcd);
      }
      case ETCD_REFUSES -> {
        etcd.refuse(random.nextInt(50) / 100.0);
        cluster.coverage().see(Sight.FAULT_ETCD_REFUSES);
        after(500, 5_000, () -> etcd.refuse(0));
      }
      case ETCD_HANGS -> {
        int member = random.nextInt(MEMBERS);
        etcd.hang(member);
        cluster.coverage().see(Sight.FAULT_ETCD_HANGS);
        after(500, 10_000, () -> etcd.resume(member));
      }
      case ETCD_ISOLATED -> isolate(random.nextInt(MEMBERS), 500, 10_000);
      case ETCD_ELECTION -> {
        etcd.electLeader();
        cluster.coverage().see(Sight.FAULT_ETCD_ELECTION);
      }
      case NO_SPACE -> {
        etcd.noSpace(true);
        cluster.coverage().see(Sight.FAULT_NO_SPACE);
        after(300, 6_000, () -> etcd.noSpace(false));
      }
      case COMPACTION -> {
        etcd.compactNow();
        cluster.coverage().see(Sight.FAULT_COMPACTION);
      }
      case WATCH_BROKEN -> {
        etcd.breakWatches(anyOwner());
        cluster.coverage().see(Sight.FAULT_WATCH_BROKEN);
      }
      case WATCH_EVENT_LOST -> {
        etcd.loseNextWatchEvent(anyOwner());
        cluster.coverage().see(Sight.FAULT_WATCH_EVENT_LOST);
      }
      case CLOCK_JUMP -> {
        cluster.world().skewWall(anyOwner(), Duration.ofMinutes(random.nextBoolean() ? 10 : -10));
        cluster.coverage().see(Sight.FAULT_CLOCK_JUMP);
      }
      case WORKER_CRASH -> crashWorker();
      case WORKER_PAUSE -> {
        SimulatedWorker worker = anyWorker();
        worker.pause();
        cluster.coverage().see(Sight.FAULT_WORKER_PAUSE);
        after(500, 40_000, worker::resume);
      }
      case WORKER_DRAIN -> drain();
      case SLOW_POOL -> {
        cluster.conditions().slowPool(between(200, 8_000));
        cluster.coverage().see(Sight.FAULT_SLOW_POOL);
        after(1_000, 8_000, cluster.conditions()::becomeKind);
      }
    }
  }

  private void crash(boolean silently) {
    SimulatedNode node = likelyLeader();
    if (node.isUp()) {
      node.crash(silently);
      cluster.coverage().see(silently ? Sight.FAULT_HOST_LOST : Sight.FAULT_CRASH);
    }
    after(50, 12_000, node::start);
  }

  /** At any moment; or when an entry is there and its writer does not know it yet. */
  private void pause() {
    SimulatedNode node = likelyLeader();
    if (random.nextBoolean()) {
      awaited.add(new Awaited(term -> true, () -> pause(node)));
    } else {
      pause(node);
    }
  }

  /**
   * For a while; or until another leads, as early as that is. Then it is asked before it hears of
   * that, and the member of etcd that it asks may not know either.
   */
  private void pause(SimulatedNode node) {
    node.pause();
    cluster.coverage().see(Sight.FAULT_PAUSE);
    etcd.answerStale(0.5, between(300, 8_000));
    Duration pause =
        between(200, random.nextBoolean() ? 5_000 : (int) Plan.LONGEST_PAUSE.toMillis());
    boolean untilDeposed = random.nextBoolean();
    if (untilDeposed || random.nextBoolean()) {
      int least = (int) pause.toMillis();
      etcd.memberOf(node.id()).ifPresent(member -> isolate(member, least, least + 3_000));
    }
    if (untilDeposed) {
      long before = cluster.observer().term();
      awaited.add(new Awaited(term -> term > before, () -> after(0, 20, () -> wake(node))));
    }
    after(pause, () -> wake(node));
  }

  private void wake(SimulatedNode node) {
    node.resume();
    cluster.users().readAt(node, READS_AT_ONCE);
  }

  private void isolate(int member, int shortestMillis, int longestMillis) {
    etcd.isolate(member);
    cluster.coverage().see(Sight.FAULT_ETCD_ISOLATED);
    after(shortestMillis, longestMillis, () -> etcd.rejoin(member));
  }

  /**
   * One stream; or all of a leader that then stands still, so that what it has just said arrives
   * when another may lead.
   */
  private void hang() {
    if (random.nextBoolean()) {
      see(cluster.network().hangOne(between(200, 12_000)), Sight.FAULT_STREAM_HUNG);
      return;
    }
    SimulatedNode node = likelyLeader();
    see(cluster.network().hangAll(node.id(), between(1_800, 3_200)), Sight.FAULT_STREAM_HUNG);
    after(20, 300, node::pause);
    after(3_500, 6_000, () -> wake(node));
  }

  private void resign() {
    SimulatedNode node = likelyLeader();
    node.shutDown();
    after(4_000, 8_000, node::start);
  }

  private void cutEtcd() {
    String owner = random.nextInt(4) == 0 ? anyWorker().id() : likelyLeader().id();
    if (random.nextBoolean()) {
      etcd.cut(owner);
    } else {
      etcd.cut(owner, random.nextBoolean() ? Faults.Way.REQUESTS : Faults.Way.ANSWERS);
      cluster.coverage().see(Sight.FAULT_CUT_ONE_WAY);
    }
    cluster.coverage().see(Sight.FAULT_CUT_ETCD);
    after(500, 12_000, () -> etcd.heal(owner));
  }

  private void cut(String one, String other, Sight sight) {
    if (one.equals(other)) {
      return;
    }
    cluster.coverage().see(sight);
    cluster.network().cut(one, other);
    boolean oneWay = random.nextInt(3) == 0;
    if (oneWay) {
      cluster.coverage().see(Sight.FAULT_CUT_ONE_WAY);
    } else {
      cluster.network().cut(other, one);
    }
    after(
        300,
        12_000,
        () -> {
          cluster.network().heal(one, other);
          cluster.network().heal(other, one);
        });
  }

  private void crashWorker() {
    SimulatedWorker worker = anyWorker();
    if (worker.life() != null) {
      worker.crash(random.nextInt(4) == 0);
      cluster.coverage().see(Sight.FAULT_WORKER_CRASH);
    }
    after(50, 25_000, worker::start);
  }

  private void drain() {
    SimulatedWorker worker = anyWorker();
    SimulatedWorker.Life life = worker.life();
    if (life != null && !worker.isPaused()) {
      life.endSoon();
      after(
          1_000,
          8_000,
          () -> {
            if (worker.life() == life) {
              worker.crash(false);
            }
          });
    }
    after(8_000, 12_000, worker::start);
  }

  private void kindEtcd() {
    etcd.loseRequests(0);
    etcd.loseAnswers(0);
    etcd.applyLate(0, Duration.ofMillis(1));
    etcd.answerStale(0, Duration.ofMillis(1));
    etcd.delay(Duration.ofMillis(1), Duration.ofMillis(3));
  }

  private void see(boolean happened, Sight sight) {
    if (happened) {
      cluster.coverage().see(sight);
    }
  }

  private void after(int shortestMillis, int longestMillis, Runnable task) {
    after(between(shortestMillis, longestMillis), task);
  }

  private void after(Duration time, Runnable task) {
    cluster
        .network()
        .after(
            time,
            () -> {
              if (!over) {
                task.run();
              }
            });
  }

  private Duration between(int shortestMillis, int longestMillis) {
    return Duration.ofMillis(shortestMillis + random.nextInt(longestMillis - shortestMillis));
  }

  private SimulatedNode anyNode() {
    return cluster.nodes().get(random.nextInt(cluster.nodes().size()));
  }

  /** The one that leads, more often than not. */
  private SimulatedNode likelyLeader() {
    if (random.nextInt(3) > 0) {
      for (SimulatedNode node : cluster.nodes()) {
        SimulatedNode.Life life = node.life();
        if (life != null && life.watch().isLeading()) {
          return node;
        }
      }
    }
    return anyNode();
  }

  private SimulatedWorker anyWorker() {
    return cluster.workers().get(random.nextInt(cluster.workers().size()));
  }

  private String anyOwner() {
    return random.nextInt(4) == 0 ? anyWorker().id() : anyNode().id();
  }
}
