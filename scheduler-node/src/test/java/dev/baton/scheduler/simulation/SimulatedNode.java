package dev.baton.scheduler.simulation;

import dev.baton.coordination.ClusterIdentity;
import dev.baton.coordination.Compactor;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Leadership;
import dev.baton.coordination.LeasedKey;
import dev.baton.coordination.Registry;
import dev.baton.coordination.StoreSize;
import dev.baton.coordination.simulation.SimulatedStrand;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.NodeRecord;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.scheduler.NodeDirectory;
import dev.baton.scheduler.dispatch.WorkerStreams;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.loop.Loop;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.loop.WorkerPorts;
import dev.baton.scheduler.simulation.Coverage.Sight;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler node: its process comes and goes, its name stays. What runs in a life of it is what
 * {@code SchedulerNode} starts, over the same seams.
 */
final class SimulatedNode {
  private static final Duration PRESENCE_TTL = Duration.ofSeconds(10);
  private static final Duration START = Duration.ofMinutes(5);
  private static final Duration SHUT_DOWN = Duration.ofSeconds(3);

  private final Cluster cluster;
  private final String id;
  private @Nullable Life life;
  private boolean paused;

  SimulatedNode(Cluster cluster, String id) {
    this.cluster = cluster;
    this.id = id;
  }

  String id() {
    return id;
  }

  /** Null: no process of it is there. */
  @Nullable Life life() {
    return life;
  }

  boolean isUp() {
    return life != null;
  }

  /** It leads in this term, by its own word. */
  boolean leads(long term) {
    Life now = life;
    return now != null && now.watch().isLeading() && now.watch().term() == term;
  }

  boolean isPaused() {
    return paused;
  }

  void start() {
    if (life == null) {
      Life next = new Life();
      life = next;
      cluster.trace().add(id, "starts as " + next.incarnation());
      next.begin();
    }
  }

  /**
   * Its process ends at once.
   *
   * @param silently with its machine
   */
  void crash(boolean silently) {
    Life ending = life;
    if (ending != null) {
      life = null;
      paused = false;
      cluster.trace().add(id, silently ? "is lost with its machine" : "crashes");
      ending.end(silently);
    }
  }

  /** As at SIGTERM: it resigns, and then ends. */
  void shutDown() {
    Life ending = life;
    if (ending != null && ending.loop != null) {
      cluster.trace().add(id, "is told to end");
      ending.shutDown();
    }
  }

  void pause() {
    if (life != null && !paused) {
      paused = true;
      cluster.trace().add(id, "stands still");
      cluster.world().pause(id);
    }
  }

  void resume() {
    if (life != null && paused) {
      paused = false;
      cluster.trace().add(id, "goes on");
      cluster.world().resume(id);
    }
  }

  /** One process life. */
  final class Life {
    private final String incarnation = Long.toHexString(cluster.random().nextLong());
    private final NodeWatch watch = new NodeWatch(cluster, id);
    private final SimulatedStrand loopStrand = cluster.world().strand(id, this::onFault);
    private final SimulatedStrand leaseStrand = strand();
    private final SimulatedStrand side = strand();
    private final SimulatedStrand transport = strand();
    private final SimulatedProcess process = new SimulatedProcess(id, incarnation, transport);
    private final Etcd leases = cluster.etcd().client(id);
    private final Etcd appends = watched();
    private final Etcd reads = watched();
    private final JournalClock clock = new JournalClock();
    private final NodeDirectory directory = new NodeDirectory(id);
    private @Nullable WorkerStreams streams;
    private @Nullable SchedulerLoop loop;
    private @Nullable Leadership leadership;
    private @Nullable Compactor compactor;
    private @Nullable LeasedKey presence;
    private NodeRecord record =
        NodeRecord.newBuilder()
            .setNodeId(id)
            .setIncarnation(incarnation)
            .setApiAddress(id)
            .setLoading(true)
            .build();

    private Etcd watched() {
      return new WatchedEtcd(
          cluster.etcd().client(id), cluster.keys(), cluster.coverage(), () -> watch.isLeading());
    }

    private SimulatedStrand strand() {
      return cluster.world().strand(id);
    }

    private void onFault(Throwable fault) {
      if (fault instanceof Invariant.Violation violation) {
        throw violation;
      }
      cluster.trace().add(id, "fault: " + fault);
      throw cluster
          .judge()
          .violated(Invariant.FAULTLESS, "A task of the loop of %s failed: %s", id, fault);
    }

    String incarnation() {
      return incarnation;
    }

    SchedulerLoop loop() {
      if (loop == null) {
        throw new IllegalStateException("Expected a node that has started");
      }
      return loop;
    }

    boolean hasLoop() {
      return loop != null;
    }

    SimulatedProcess process() {
      return process;
    }

    SimulatedStrand side() {
      return side;
    }

    SimulatedStrand transport() {
      return transport;
    }

    NodeWatch watch() {
      return watch;
    }

    /** Journal time here and now, ms. */
    long journalTime() {
      return clock.now(loopStrand.nanoTime());
    }

    private void begin() {
      var unused =
          ClusterIdentity.establish(reads, side, cluster.keys(), cluster.random(), START)
              .whenCompleteAsync(
                  (identity, failure) -> {
                    if (failure == null) {
                      wire(identity);
                    } else {
                      cluster.trace().add(id, "cannot start: " + failure);
                      crash(false);
                    }
                  },
                  side);
    }

    /** As SchedulerNode.start does. */
    private void wire(ClusterIdentity identity) {
      WorkerStreams opened = new WorkerStreams(loopStrand, id, identity.generation());
      streams = opened;
      StoreSize size = new StoreSize(reads, side, cluster.plan().quotaBytes());
      Loop parts =
          new Loop(
              loopStrand,
              appends,
              reads,
              cluster.keys(),
              clock,
              identity.generation(),
              opened,
              new NodePeers(cluster, process),
              watch,
              cluster.plan().loop(id),
              cluster.resolver(),
              new SimulatedPool(cluster, side),
              cluster.random());
      SchedulerLoop started =
          new SchedulerLoop(
              parts,
              new SchedulerLoop.Outside(
                  directory::standbys,
                  new Ports(),
                  size::isFull,
                  this::announce,
                  leads -> side.execute(() -> compact(leads)),
                  watch::onFatal));
      loop = started;
      opened.attach(started);
      cluster.network().up(process);
      Registry nodes = new Registry(reads, side, cluster.keys().nodes(), cluster.random());
      side.execute(() -> {
        nodes.add(directory);
        nodes.start();
      });
      size.start();
      claim(started);
    }

    private void claim(SchedulerLoop started) {
      LeasedKey claimed =
          new LeasedKey(
              leases,
              leaseStrand,
              cluster.random(),
              cluster.keys().node(id),
              record.toByteString(),
              PRESENCE_TTL,
              new LeasedKey.Listener() {
                @Override
                public void onHeld(long createRevision, long leaseId) {
                  if (leadership == null) {
                    lead(started);
                  }
                }

                @Override
                public void onTaken(KeyValue holder) {}

                @Override
                public void onLost(String reason) {}
              });
      presence = claimed;
      claimed.start();
    }

    private void lead(SchedulerLoop started) {
      LeaderRecord me =
          LeaderRecord.newBuilder()
              .setNodeId(id)
              .setIncarnation(incarnation)
              .setApiAddress(id)
              .build();
      Leadership made =
          new Leadership(
              leases,
              leaseStrand,
              cluster.random(),
              cluster.keys(),
              me,
              cluster.plan().leaderTtl(),
              started);
      leadership = made;
      started.start(made);
      watch.begin(started);
    }

    private void announce(boolean loaded) {
      LeasedKey claimed = presence;
      if (claimed != null) {
        record = record.toBuilder().setLoading(!loaded).build();
        claimed.update(record.toByteString());
      }
    }

    private void compact(boolean leads) {
      if (compactor != null) {
        compactor.close();
        compactor = null;
      }
      if (leads) {
        Compactor next =
            new Compactor(
                reads,
                side,
                directory::isAnyLoading,
                new Compactor.Listener() {
                  @Override
                  public void onCompacted(long revision) {}

                  @Override
                  public void onFailure(EtcdException failure) {}
                });
        compactor = next;
        next.start();
      }
    }

    /** A worker has connected; what it says is served as in production. */
    NodeWorkerCall serve(
        Wire wire, Consumer<SchedulerMessage> arrival, Consumer<SchedulerMessage> leaving) {
      WorkerStreams serving = streams;
      if (serving == null) {
        throw new IllegalStateException("Expected a node that has started");
      }
      NodeWorkerCall call = new NodeWorkerCall(wire, transport, arrival, leaving);
      wire.onServerClosed(call::ended);
      io.grpc.stub.StreamObserver<WorkerMessage> served = serving.open(call);
      call.begin(served);
      return call;
    }

    private void shutDown() {
      Leadership held = leadership;
      SchedulerLoop running = loop;
      if (held != null && running != null) {
        cluster.coverage().see(Sight.FAULT_RESIGN);
        var unused =
            running
                .resign()
                .thenComposeAsync(nothing -> held.close(), side)
                .thenComposeAsync(nothing -> running.close(), side)
                .thenComposeAsync(
                    nothing ->
                        presence == null
                            ? CompletableFuture.<Void>completedFuture(null)
                            : presence.close(),
                    side)
                .thenRunAsync(() -> gone(), side);
      }
      cluster.network().after(SHUT_DOWN, this::gone);
    }

    private void gone() {
      if (life == this) {
        crash(false);
      }
    }

    private void end(boolean silently) {
      cluster.network().down(process, silently);
      List.of(loopStrand, leaseStrand, side, transport).forEach(SimulatedStrand::crash);
      List.of(leases, appends, reads).forEach(Etcd::close);
    }

    /** Workers' ports, as this node reaches them. */
    private final class Ports implements WorkerPorts {
      @Override
      public CompletableFuture<Boolean> answers(String address, String worker) {
        return cluster.network().ask(id, host(address), worker);
      }

      @Override
      public CompletableFuture<Boolean> isRefused(String address) {
        return cluster.network().knock(id, host(address));
      }

      private static String host(String address) {
        return address.substring(0, address.indexOf(':'));
      }
    }
  }
}
