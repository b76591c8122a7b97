package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Answer;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Strand;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.simulation.Faults.Way;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/** Three owners that call and watch at random, and everything that a network and etcd can do. */
final class Storm {
  private static final List<String> OWNERS = List.of("a", "b", "c");
  private static final Duration DEADLINE = Duration.ofMillis(500);
  private static final ByteString FROM = ByteString.copyFromUtf8("/s/");
  private static final ByteString TO = ByteString.copyFromUtf8("/s0");
  private static final int KEYS = 20;

  private final World world;
  private final SimulatedEtcd etcd;
  private final RandomGenerator random;

  Storm(long seed) {
    this.world = new World(seed);
    this.etcd = new SimulatedEtcd(world);
    this.random = world.random();
  }

  World world() {
    return world;
  }

  SimulatedEtcd cluster() {
    return etcd;
  }

  /** A minute of it. */
  SimulatedEtcd run() {
    Faults faults = etcd.faults();
    faults.loseRequests(0.01);
    faults.loseAnswers(0.01);
    faults.applyLate(0.02, Duration.ofSeconds(5));
    faults.answerStale(0.5, Duration.ofSeconds(1));
    faults.refuse(0.01);
    faults.loseWatchEvents(0.01);
    faults.breakWatches(0.01);
    for (String owner : OWNERS) {
      Caller caller = new Caller(owner);
      caller.call();
      caller.watch(0);
    }
    strike();
    world.runFor(Duration.ofMinutes(1));
    return etcd;
  }

  private void strike() {
    Faults faults = etcd.faults();
    String owner = OWNERS.get(random.nextInt(OWNERS.size()));
    int member = random.nextInt(Members.COUNT);
    switch (random.nextInt(14)) {
      case 0 -> faults.cut(owner);
      case 1 -> faults.cut(owner, random.nextBoolean() ? Way.REQUESTS : Way.ANSWERS);
      case 2, 3 -> faults.heal(owner);
      case 4 -> faults.hang(member);
      case 5, 6 -> faults.resume(member);
      case 7 -> faults.electLeader();
      case 8 -> faults.noSpace(random.nextBoolean());
      case 9 -> faults.compactNow();
      case 10 -> faults.breakWatches(owner);
      case 11 -> faults.isolate(member);
      case 12 -> faults.rejoin(member);
      default -> faults.loseNextWatchEvent(owner);
    }
    world.after(Duration.ofMillis(random.nextInt(2000)), this::strike);
  }

  private final class Caller {
    private final Etcd client;
    private final Strand strand;
    private long lease;
    private long revision;

    Caller(String owner) {
      this.client = etcd.client(owner);
      this.strand = world.strand(owner);
    }

    void call() {
      switch (random.nextInt(10)) {
        case 0 ->
            Answer.of(
                client.grant(Duration.ofSeconds(2), DEADLINE),
                strand,
                granted -> {
                  lease = granted.id();
                  again();
                },
                failure -> again());
        case 1 ->
            Answer.of(client.renew(lease, DEADLINE), strand, ttl -> again(), failure -> again());
        case 2 ->
            Answer.of(
                client.list(new Etcd.ListRequest(FROM, TO, 5, revision / 2, false), DEADLINE),
                strand,
                reply -> again(),
                failure -> again());
        case 3 -> txn(List.of(), List.of());
        case 4 -> txn(List.of(new Op.Delete(key())), List.of());
        default ->
            txn(
                List.of(new Op.Put(key(), ByteString.copyFromUtf8("x"), 0)),
                List.of(new Op.Put(key(), ByteString.EMPTY, random.nextBoolean() ? lease : 0)));
      }
    }

    private void txn(List<Op> then, List<Op> otherwise) {
      Compare compare = new Compare.ModRevision(key(), random.nextBoolean() ? 0 : revision);
      Answer.of(
          client.txn(new Txn(List.of(compare), then, otherwise), DEADLINE),
          strand,
          reply -> {
            revision = reply.revision();
            again();
          },
          failure -> again());
    }

    void watch(long from) {
      client.watch(
          new Etcd.WatchRequest(FROM, TO, from, random.nextBoolean()),
          new Etcd.WatchListener() {
            @Override
            public void onOpen() {}

            @Override
            public void onEvents(List<WatchEvent> events, long upTo) {}

            @Override
            public void onFailure(EtcdException failure) {
              strand.execute(() -> watch(random.nextBoolean() ? 0 : Math.max(1, revision - 5)));
            }
          });
    }

    private void again() {
      strand.schedule(Duration.ofMillis(random.nextInt(50)), this::call);
    }

    private ByteString key() {
      return ByteString.copyFromUtf8("/s/" + random.nextInt(KEYS));
    }
  }
}
