package dev.baton.scheduler.simulation;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Backoff;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.LeasedKey;
import dev.baton.coordination.Registry;
import dev.baton.coordination.Strand;
import dev.baton.coordination.simulation.SimulatedStrand;
import dev.baton.proto.v1.NodeRecord;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.scheduler.simulation.Coverage.Sight;
import dev.baton.worker.protocol.AttemptId;
import dev.baton.worker.protocol.Outputs;
import dev.baton.worker.protocol.WorkerProtocol;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A worker: its process comes and goes, its id stays. What it says and obeys is decided by the
 * worker's own protocol; around it stands what {@code WorkerLoop} and its streams do.
 */
final class SimulatedWorker {
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);

  private final Cluster cluster;
  private final String id;
  private final int slots;
  private final boolean offersRare;
  private @Nullable Life life;
  private long wellSinceMillis;
  private boolean paused;

  SimulatedWorker(Cluster cluster, String id, int slots, boolean offersRare) {
    this.cluster = cluster;
    this.id = id;
    this.slots = slots;
    this.offersRare = offersRare;
  }

  String id() {
    return id;
  }

  int slots() {
    return slots;
  }

  @Nullable Life life() {
    return life;
  }

  /** Since when it has been registered, and running, if it is; ms. */
  long wellSinceMillis() {
    return wellSinceMillis;
  }

  boolean isPaused() {
    return paused;
  }

  void start() {
    if (life == null) {
      Life next = new Life();
      life = next;
      cluster.trace().add(id, "starts as " + next.incarnation);
      next.begin();
    }
  }

  void crash(boolean silently) {
    Life ending = life;
    if (ending != null) {
      life = null;
      paused = false;
      cluster.trace().add(id, silently ? "is lost with its machine" : "crashes");
      ending.end(silently);
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
      wellSinceMillis = cluster.trueMillis();
      cluster.trace().add(id, "goes on");
      cluster.world().resume(id);
    }
  }

  /** One process life. */
  final class Life implements Outputs {
    private final String incarnation = Long.toHexString(cluster.random().nextLong());
    private final SimulatedStrand strand = strand();
    private final SimulatedStrand claims = strand();
    private final SimulatedStrand transport = strand();
    private final SimulatedProcess process = new SimulatedProcess(id, incarnation, transport);
    private final Etcd client = cluster.etcd().client(id);
    private final WorkerProtocol protocol = new WorkerProtocol(id, incarnation, room(), this);
    private final Handlers handlers =
        new Handlers(
            strand,
            cluster.random(),
            cluster.conditions(),
            cluster.random().nextInt(4) > 0,
            this::finished,
            this::returned);
    private final Map<String, Stream> streams = new LinkedHashMap<>();
    private final Registry nodes =
        new Registry(client, strand, cluster.keys().nodes(), cluster.random());
    private @Nullable LeasedKey claim;
    private boolean flushQueued;
    private boolean hasRegistered;
    private boolean held;
    private boolean draining;
    private boolean drained;
    private WorkerRecord record =
        WorkerRecord.newBuilder()
            .setWorkerId(id)
            .setIncarnation(incarnation)
            .setHost(id)
            .setPort(1)
            .addAllCapabilities(
                offersRare ? List.of(Flows.COMMON, Flows.RARE) : List.of(Flows.COMMON))
            .setSlots(slots)
            .build();
    private final TermWatch terms = new TermWatch(cluster.judge(), id);

    private SimulatedStrand strand() {
      return cluster.world().strand(id);
    }

    /** One in four has less room than it says, as a worker may in which something lingers. */
    private int room() {
      return slots > 1 && cluster.random().nextInt(4) == 0 ? slots - 1 : slots;
    }

    WorkerLife name() {
      return new WorkerLife(id, incarnation);
    }

    WorkerProtocol protocol() {
      return protocol;
    }

    boolean offers(String type) {
      return record.getCapabilitiesList().contains(type);
    }

    /** It has heard of this node on the stream that is open. */
    boolean isConnectedTo(String node) {
      Stream stream = streams.get(node);
      return stream != null && stream.wire != null && stream.connected;
    }

    boolean isHeld() {
      return held;
    }

    /** Its streams, in words. */
    String streams() {
      StringBuilder text = new StringBuilder();
      streams.forEach((node, stream) ->
          text.append(node)
              .append(' ')
              .append(stream.wire == null ? "closed" : stream.wire)
              .append(' '));
      return text.toString();
    }

    @Override
    public long lease() {
      LeasedKey claimed = claim;
      return claimed == null ? 0 : claimed.confirmedLease();
    }

    /** Handlers that have not returned. */
    int handlers() {
      return handlers.count();
    }

    private void begin() {
      cluster.network().up(process);
      nodes.add(new Nodes());
      LeasedKey claimed =
          new LeasedKey(
              client,
              claims,
              cluster.random(),
              cluster.keys().worker(id),
              record.toByteString(),
              TTL,
              new Claim());
      claim = claimed;
      claimed.start();
      var unused = strand.schedule(TICK, this::tick);
    }

    boolean isDraining() {
      return draining;
    }

    /** It is told to end: from now on everything is returned; what runs may end. */
    void endSoon() {
      cluster.coverage().see(Sight.FAULT_WORKER_DRAIN);
      cluster.trace().add(id, "drains");
      strand.execute(() -> {
        protocol.drain();
        changed();
      });
      offerNothing();
    }

    /** An operator wants it to end: it does when nothing is left, and is started again. */
    @Override
    public void drain() {
      cluster.trace().add(id, "drains, as an operator asked");
      drained = true;
      offerNothing();
    }

    private void endIfDrained() {
      if (drained && protocol.runningCount() == 0 && protocol.outboxCount() == 0) {
        cluster.coverage().see(Sight.DRAINED);
        cluster.network().after(Duration.ZERO, this::endAndStartAgain);
      }
    }

    private void endAndStartAgain() {
      if (life == this && !paused) {
        crash(false);
        cluster
            .network()
            .after(
                Duration.ofMillis(500 + cluster.random().nextInt(4_000)),
                SimulatedWorker.this::start);
      }
    }

    private void offerNothing() {
      draining = true;
      LeasedKey claimed = claim;
      if (claimed != null) {
        record = record.toBuilder().setSlots(0).build();
        claimed.update(record.toByteString());
      }
    }

    private void tick() {
      var unused = strand.schedule(TICK, this::tick);
      protocol.tick();
      changed();
      endIfDrained();
    }

    private void changed() {
      if (!flushQueued) {
        flushQueued = true;
        strand.execute(() -> {
          flushQueued = false;
          protocol.flush();
        });
      }
    }

    private void finished(TaskResult result, boolean handlerReturned) {
      if (!handlerReturned) {
        cluster.coverage().see(Sight.OVERDUE_HANDLER);
      }
      cluster.wireWatch().finished(result);
      protocol.finished(result, handlerReturned);
      changed();
    }

    private void returned(AttemptId attempt) {
      protocol.handlerReturned(attempt);
      changed();
    }

    private void end(boolean silently) {
      cluster.network().down(process, silently);
      List.of(strand, claims, transport).forEach(SimulatedStrand::crash);
      client.close();
    }

    // What a node says.

    private void received(String node, SchedulerMessage message) {
      boolean ours = message.getIncarnation().equals(incarnation) && message.getTerm() > 0;
      int outbox = protocol.outboxCount();
      if (ours) {
        terms.hears(message.getTerm());
      }
      protocol.received(node, message);
      if (protocol.outboxCount() < outbox) {
        terms.obeys("an acknowledgement");
      }
      changed();
    }

    // What the protocol wants.

    @Override
    public boolean ready(String node) {
      Stream stream = streams.get(node);
      return stream != null && stream.wire != null && stream.wire.waitingUp() < 16;
    }

    @Override
    public void send(String node, WorkerMessage message) {
      Stream stream = streams.get(node);
      if (stream != null && stream.wire != null) {
        stream.say(message);
      }
    }

    @Override
    public void close(String node, String reason) {
      Stream stream = streams.get(node);
      if (stream != null) {
        stream.giveUp();
      }
    }

    @Override
    public void start(TaskAssignment assignment) {
      terms.obeys("an assignment");
      cluster.wireWatch().started(name(), slots, assignment, handlers.count());
      handlers.start(assignment);
    }

    @Override
    public void cancel(AttemptId attempt, String reason) {
      terms.obeys("a cancel");
      handlers.cancel(attempt);
    }

    @Override
    public void dropped(String node, Drop why) {
      switch (why) {
        case TERM -> cluster.coverage().see(Sight.DROPPED_TERM);
        case KNOWN_ASSIGNMENT -> cluster.coverage().see(Sight.DROPPED_KNOWN);
        case REGISTRATION -> cluster.coverage().see(Sight.DROPPED_REGISTRATION);
        case INCARNATION, GENERATION, TOO_MANY_RETURNS ->
            throw cluster.judge().violated(Invariant.FAULTLESS, "%s drops by %s", id, why);
      }
    }

    // Its key in etcd.

    private final class Claim implements LeasedKey.Listener {
      @Override
      public void onHeld(long createRevision, long leaseId) {
        held = true;
        wellSinceMillis = cluster.trueMillis();
        if (!hasRegistered) {
          hasRegistered = true;
          strand.execute(nodes::start);
        }
      }

      @Override
      public void onTaken(KeyValue holder) {}

      @Override
      public void onLost(String reason) {
        held = false;
        cluster.trace().add(id, "is not registered any more: " + reason);
      }
    }

    // Its streams, as NodeStream keeps them.

    private final class Nodes implements Registry.Listener {
      @Override
      public void onPut(KeyValue keyValue) {
        try {
          NodeRecord node = NodeRecord.parseFrom(keyValue.value());
          Stream known = streams.get(node.getNodeId());
          if (known != null) {
            known.listed = true;
          } else {
            Stream stream = new Stream(node.getNodeId());
            streams.put(node.getNodeId(), stream);
            stream.open();
          }
          changed();
        } catch (InvalidProtocolBufferException e) {
          throw new IllegalStateException(e);
        }
      }

      @Override
      public void onDelete(ByteString key) {
        String text = key.toStringUtf8();
        Stream known = streams.get(text.substring(text.lastIndexOf('/') + 1));
        if (known != null) {
          known.listed = false;
          if (known.wire == null || !known.connected) {
            known.forget();
          }
        }
        changed();
      }
    }

    /** The stream to one node. */
    private final class Stream {
      private final String node;
      private final Backoff pauses = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, cluster.random());
      private boolean listed = true;
      private boolean connected;
      private @Nullable Wire wire;
      private Strand.@Nullable Timer reopening;

      /** The node's end of {@link #wire}. */
      private NodeWorkerCall[] end = new NodeWorkerCall[1];

      Stream(String node) {
        this.node = node;
      }

      void open() {
        reopening = null;
        connected = false;
        Wire[] made = new Wire[1];
        NodeWorkerCall[] there = new NodeWorkerCall[1];
        end = there;
        Wire opened =
            cluster
                .network()
                .connect(
                    process,
                    node,
                    () -> accept(made[0], there),
                    () -> strand.execute(() -> ended(made[0])));
        made[0] = opened;
        wire = opened;
        opened.onClientClosed(() -> strand.execute(() -> ended(opened)));
        protocol.streamOpened(node);
        changed();
      }

      private void accept(Wire accepted, NodeWorkerCall[] nodeEnd) {
        SimulatedNode.Life there = cluster.node(node).life();
        if (there == null || !there.hasLoop()) {
          accepted.reset();
          return;
        }
        nodeEnd[0] =
            there.serve(
                accepted,
                message -> strand.execute(() -> hear(accepted, message)),
                message -> cluster.wireWatch().leaving(node, name(), message));
      }

      private void hear(Wire from, SchedulerMessage message) {
        if (wire == from) {
          if (!connected) {
            connected = true;
            pauses.reset();
          }
          received(node, message);
        }
      }

      void say(WorkerMessage message) {
        Wire open = wire;
        NodeWorkerCall[] there = end;
        if (open != null) {
          open.up(() -> {
            if (there[0] != null) {
              boolean leads =
                  cluster.observer().leaderRevision() == cluster.observer().term()
                      && cluster.node(node).leads(cluster.observer().term());
              cluster.wireWatch().arriving(name(), message, leads);
              there[0].received(message);
            }
          });
        }
      }

      void giveUp() {
        Wire open = wire;
        if (open != null) {
          ended(open);
          open.closeByClient();
        }
      }

      void forget() {
        Wire open = wire;
        wire = null;
        if (reopening != null) {
          reopening.cancel();
        }
        if (open != null) {
          open.closeByClient();
          protocol.streamClosed(node);
        }
        streams.remove(node);
      }

      private void ended(Wire which) {
        if (wire != which) {
          return;
        }
        wire = null;
        connected = false;
        protocol.streamClosed(node);
        changed();
        if (!listed) {
          streams.remove(node);
          return;
        }
        reopening = strand.schedule(pauses.next(), this::open);
      }
    }
  }
}
