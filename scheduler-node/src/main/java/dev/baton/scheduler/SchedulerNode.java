package dev.baton.scheduler;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.ClusterIdentity;
import dev.baton.coordination.Compactor;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Leadership;
import dev.baton.coordination.Registry;
import dev.baton.coordination.StoreSize;
import dev.baton.coordination.ThreadStrand;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.node.EtcdGate;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.node.Health;
import dev.baton.node.HostPort;
import dev.baton.node.HttpPort;
import dev.baton.node.IdClaim;
import dev.baton.node.Logs;
import dev.baton.node.Metrics;
import dev.baton.node.NodeProcess;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.NodeRecord;
import dev.baton.scheduler.SchedulerSettings.Compaction;
import dev.baton.scheduler.api.BatonApi;
import dev.baton.scheduler.api.ForwardedCalls;
import dev.baton.scheduler.api.WorkerRegistrar;
import dev.baton.scheduler.dispatch.GrpcPeers;
import dev.baton.scheduler.dispatch.Ports;
import dev.baton.scheduler.dispatch.WorkerStreams;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.loop.Loop;
import dev.baton.scheduler.loop.NodeStatus;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.metrics.LoopMetrics;
import dev.baton.scheduler.model.RunId;
import dev.baton.workflow.Resolver;
import dev.baton.workflow.WorkflowReader;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scheduler node as a process: {@code baton scheduler --config FILE}.
 *
 * <p>SIGTERM resigns first, then ends with 0. It ends with 3 if another live node has its id, 4 if
 * etcd does not answer, 5 if a port is taken, 6 if a setting is wrong; see {@link ExitCode}.
 */
public final class SchedulerNode {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerNode.class);
  private static final Duration PRESENCE_TTL = Duration.ofSeconds(10);
  private static final Duration RESIGN_WITHIN = Duration.ofSeconds(3);
  private static final int MAX_MESSAGE_BYTES = 4 << 20;
  private static final int POOL_QUEUE = 100_000;

  private final SchedulerSettings settings;
  private final NodeProcess process;
  private final Keys keys;
  private final String incarnation;
  private final SecureRandom random = new SecureRandom();
  private final Metrics metrics;
  private final AtomicReference<@Nullable Compactor> compactor = new AtomicReference<>();
  private final AtomicReference<NodeRecord> presence =
      new AtomicReference<>(NodeRecord.getDefaultInstance());

  private SchedulerNode(SchedulerSettings settings, NodeProcess process) {
    this.settings = settings;
    this.process = process;
    this.keys = new Keys(settings.namespace());
    this.incarnation = Long.toHexString(random.nextLong());
    this.metrics = process.closeLater("metrics", new Metrics());
  }

  public static void main(String[] args) {
    NodeProcess.main(
        "scheduler",
        SchedulerSettings.class,
        args,
        (settings, process) -> {
          Logs.start(settings.log(), Map.of("node", settings.id()));
          settings.listen().warning().ifPresent(LOG::warn);
          new SchedulerNode(settings, process).start();
        });
  }

  private void start() throws InterruptedException {
    Rehearsal.UnderWay rehearsal = Rehearsal.begin();
    JetcdEtcd leases = etcd("leases");
    JetcdEtcd appends = etcd("appends");
    JetcdEtcd reads = etcd("reads");
    EtcdGate.await(reads, keys, settings.etcd().members(), settings.etcd().startTimeout(), random);
    AtomicReference<@Nullable SchedulerLoop> running = new AtomicReference<>();
    ThreadStrand loopStrand = loopStrand(running);
    ThreadStrand leaseStrand = strand("leases");
    ThreadStrand sideStrand = strand("side");
    ClusterIdentity identity = identity(reads, sideStrand);

    Channels channels = process.closeLater("channels", new Channels());
    LoopMetrics loopMetrics = new LoopMetrics(metrics.registry());
    WorkerStreams streams = new WorkerStreams(loopStrand, settings.id(), identity.generation());
    GrpcPeers peers = new GrpcPeers(identity.generation(), incarnation, channels, sideStrand);
    NodeDirectory nodes = new NodeDirectory(settings.id());
    StoreSize size = new StoreSize(reads, sideStrand, settings.etcdQuota());
    Resolver resolver = new Resolver();
    ThreadPoolExecutor pool = pool();
    Loop parts =
        new Loop(
            loopStrand,
            appends,
            reads,
            keys,
            new JournalClock(),
            identity.generation(),
            streams,
            peers,
            loopMetrics,
            settings.loop(),
            resolver,
            pool,
            random);
    AtomicReference<@Nullable IdClaim> claim = new AtomicReference<>();
    SchedulerLoop loop =
        new SchedulerLoop(
            parts,
            new SchedulerLoop.Outside(
                nodes::standbys,
                new Ports(),
                size::isFull,
                loaded -> announce(claim.get(), loaded),
                leads -> compact(reads, sideStrand, nodes, leads),
                why -> process.stop(ExitCode.INTERNAL, why)));
    running.set(loop);
    loopMetrics.watch(loop);
    streams.attach(loop);
    peers.attach(loop);

    HealthStatusManager health = new HealthStatusManager();
    BatonApi api =
        new BatonApi(
            loop,
            new BatonApi.Parts(
                sideStrand,
                reads,
                keys,
                new WorkflowReader(resolver),
                channels,
                this::newRunId,
                () -> nodes.list(loop.leader(), loop.status().seq())));
    WorkerRegistrar registrar =
        new WorkerRegistrar(reads, keys, sideStrand, new Ports(), nodes::addresses);
    Server server = serve(new WorkerService(streams, registrar), peers, api, health);
    HttpPort http =
        process.closeLater(
            "HTTP port",
            HttpPort.open(
                settings.listen().http(),
                "listen.httpPort",
                HttpPort.routes(
                    metrics, () -> health(loop, true), () -> health(loop, isReady(loop)))));

    NodeRecord record =
        NodeRecord.newBuilder()
            .setNodeId(settings.id())
            .setIncarnation(incarnation)
            .setApiAddress(settings.listen().advertised(server.getPort()).toString())
            .setHttpAddress(settings.listen().advertised(http.address().port()).toString())
            .setVersion(version())
            .setLoading(true)
            .build();
    presence.set(record);
    claim.set(claimId(leases, leaseStrand, record));

    Leadership leadership = leadership(leases, leaseStrand, record, loop);
    Registry registry = new Registry(reads, sideStrand, keys.nodes(), random);
    sideStrand.execute(() -> {
      registry.add(nodes);
      registry.start();
    });
    size.start();
    process.closeLater("leadership", () -> resign(loop, leadership));
    awaitRehearsal(rehearsal, nodes);
    loop.start(leadership);
    LOG.info(
        "Scheduler {} started: API {}, HTTP {}, etcd {}",
        settings.id(),
        record.getApiAddress(),
        record.getHttpAddress(),
        settings.etcd().endpoints());
  }

  /** A node leads without it as well, only later. */
  private static void awaitRehearsal(Rehearsal.UnderWay rehearsal, NodeDirectory nodes)
      throws InterruptedException {
    try {
      if (!rehearsal.await(nodes::canSpareThisNode)) {
        LOG.info("The rehearsal of a term was cut short: the machine is busy");
      }
    } catch (ExecutionException e) {
      LOG.warn("The rehearsal of a term failed: a fail-over to this node takes longer", e);
    }
  }

  // The parts.

  private JetcdEtcd etcd(String name) {
    return process.closeLater(
        "etcd client for " + name, JetcdEtcd.create(settings.etcd().config(), name));
  }

  private ThreadStrand strand(String name) {
    return process.closeLater("strand " + name, new ThreadStrand(name));
  }

  /** What its tasks throw is the loop's to judge. */
  private ThreadStrand loopStrand(AtomicReference<@Nullable SchedulerLoop> running) {
    ThreadStrand strand =
        new ThreadStrand(
            "loop",
            true,
            fault -> {
              SchedulerLoop loop = running.get();
              if (loop == null) {
                LOG.error("A task of the loop failed before it began", fault);
              } else {
                loop.onStrandFault(fault);
              }
            });
    return process.closeLater("strand loop", strand);
  }

  private ThreadPoolExecutor pool() {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            2,
            2,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(POOL_QUEUE),
            task -> {
              Thread thread = new Thread(task, "expressions");
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.CallerRunsPolicy());
    process.closeLater("expressions", pool::shutdownNow);
    return pool;
  }

  private ClusterIdentity identity(JetcdEtcd etcd, ThreadStrand strand)
      throws InterruptedException {
    try {
      return ClusterIdentity.establish(etcd, strand, keys, random, settings.etcd().startTimeout())
          .get(settings.etcd().startTimeout().toMillis() + 5_000, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      ExitCode code =
          e.getCause() instanceof EtcdException ? ExitCode.UNREACHABLE : ExitCode.CONFIGURATION;
      String why = e.getCause() == null ? null : e.getCause().getMessage();
      throw new ExitException(code, String.valueOf(why), e);
    } catch (TimeoutException e) {
      throw new ExitException(ExitCode.UNREACHABLE, "etcd did not say which cluster this is", e);
    }
  }

  private Server serve(
      WorkerService workers, GrpcPeers peers, BatonApi api, HealthStatusManager health) {
    HostPort wanted = settings.listen().grpc();
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(wanted.host(), wanted.port()))
            .maxInboundMessageSize(MAX_MESSAGE_BYTES)
            .maxConcurrentCallsPerConnection(10_000)
            .keepAliveTime(10, TimeUnit.SECONDS)
            .permitKeepAliveTime(5, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true)
            .intercept(new ForwardedCalls())
            .addService(workers)
            .addService(peers)
            .addService(api)
            .addService(health.getHealthService())
            .addService(ProtoReflectionServiceV1.newInstance())
            .build();
    try {
      server.start();
    } catch (IOException e) {
      throw ExitException.cannotListen(wanted, "listen.grpcPort", e);
    }
    process.closeLater("API", server::shutdownNow);
    return server;
  }

  private IdClaim claimId(JetcdEtcd etcd, ThreadStrand strand, NodeRecord record)
      throws InterruptedException {
    CompletableFuture<Void> held = new CompletableFuture<>();
    IdClaim claim =
        new IdClaim(
            etcd,
            strand,
            random,
            new IdClaim.Claim(
                keys.node(settings.id()),
                record.toByteString(),
                PRESENCE_TTL,
                "scheduler id '" + settings.id() + "'",
                incarnation,
                SchedulerNode::holder),
            new IdClaim.Events() {
              @Override
              public void onHeld() {
                held.complete(null);
              }

              @Override
              public void onLost(String reason) {}

              @Override
              public void onRefused(ExitException reason) {
                held.completeExceptionally(reason);
              }
            });
    process.closeLater("presence", () -> await(claim.close()));
    claim.start();
    try {
      held.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof ExitException exit
          ? exit
          : new ExitException(ExitCode.INTERNAL, String.valueOf(e.getCause()), e);
    }
    return claim;
  }

  private static IdClaim.Holder holder(ByteString value) {
    try {
      NodeRecord other = NodeRecord.parseFrom(value);
      HostPort http = HostPort.parse(other.getHttpAddress());
      return new IdClaim.Holder(http.host(), http.port(), other.getIncarnation());
    } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
      return new IdClaim.Holder("", 0, "?");
    }
  }

  private void announce(@Nullable IdClaim claim, boolean loaded) {
    if (claim != null) {
      NodeRecord now = presence.updateAndGet(r -> r.toBuilder().setLoading(!loaded).build());
      claim.update(now.toByteString());
    }
  }

  private Leadership leadership(
      JetcdEtcd etcd, ThreadStrand strand, NodeRecord record, SchedulerLoop loop) {
    LeaderRecord me =
        LeaderRecord.newBuilder()
            .setNodeId(record.getNodeId())
            .setIncarnation(record.getIncarnation())
            .setApiAddress(record.getApiAddress())
            .setHttpAddress(record.getHttpAddress())
            .build();
    return new Leadership(etcd, strand, random, keys, me, settings.leaderTtl(), loop);
  }

  /** The leader, and nobody else, keeps etcd from growing. */
  private void compact(JetcdEtcd etcd, ThreadStrand strand, NodeDirectory nodes, boolean leads) {
    Compactor before = compactor.getAndSet(null);
    if (before != null) {
      strand.execute(before::close);
    }
    if (!leads || settings.compaction() == Compaction.OFF) {
      return;
    }
    Compactor next =
        new Compactor(
            etcd,
            strand,
            nodes::isAnyLoading,
            new Compactor.Listener() {
              @Override
              public void onCompacted(long revision) {
                LOG.debug("etcd is compacted to revision {}", revision);
              }

              @Override
              public void onFailure(EtcdException failure) {
                LOG.debug("Compacting etcd failed: {}", failure.getMessage());
              }
            });
    compactor.set(next);
    strand.execute(next::start);
  }

  private static void resign(SchedulerLoop loop, Leadership leadership) {
    await(loop.resign());
    await(leadership.close());
    await(loop.close());
  }

  private static void await(Future<?> future) {
    try {
      future.get(RESIGN_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("Closing took too long", e);
    }
  }

  private RunId newRunId() {
    long time = System.currentTimeMillis();
    return new RunId(time << 16 | random.nextInt(1 << 16), random.nextLong());
  }

  private static String version() {
    String version = SchedulerNode.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }

  // Health.

  private Health health(SchedulerLoop loop, boolean ok) {
    NodeStatus status = loop.status();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("id", settings.id());
    details.put("incarnation", incarnation);
    details.put("role", status.role().name().toLowerCase(Locale.ROOT));
    details.put("term", status.term());
    details.put("seq", status.seq());
    details.put("lagMs", status.lag().toMillis());
    LeaderRecord leader = loop.leader().leader();
    details.put("leader", leader == null ? "" : leader.getNodeId());
    return new Health(ok, details);
  }

  /** A standby has loaded and is less than a second behind; a leader has taken over. */
  private static boolean isReady(SchedulerLoop loop) {
    NodeStatus status = loop.status();
    return switch (status.role()) {
      case LEADING -> true;
      case STANDBY -> status.lag().compareTo(Duration.ofSeconds(1)) < 0;
      case LOADING, TAKING_OVER, STOPPED -> false;
    };
  }
}
