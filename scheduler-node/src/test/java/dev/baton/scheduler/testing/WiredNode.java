package dev.baton.scheduler.testing;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Leadership;
import dev.baton.coordination.ThreadStrand;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.BatonServiceGrpc.BatonServiceBlockingStub;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.SchedulerAddress;
import dev.baton.scheduler.WorkerService;
import dev.baton.scheduler.api.BatonApi;
import dev.baton.scheduler.api.ForwardedCalls;
import dev.baton.scheduler.api.WorkerRegistrar;
import dev.baton.scheduler.dispatch.GrpcPeers;
import dev.baton.scheduler.dispatch.Ports;
import dev.baton.scheduler.dispatch.WorkerStreams;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.loop.Loop;
import dev.baton.scheduler.loop.LoopListener;
import dev.baton.scheduler.loop.LoopSettings;
import dev.baton.scheduler.loop.Role;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.model.RunId;
import dev.baton.workflow.Resolver;
import dev.baton.workflow.WorkflowReader;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A scheduler node with its gRPC services on a free port of 127.0.0.1, in this process. */
public final class WiredNode implements AutoCloseable {
  public static final long GENERATION = 99;

  public final String id;
  public final SchedulerLoop loop;
  public final WorkerStreams streams;
  public final GrpcPeers peers;
  public final String address;
  public final String incarnation = Long.toHexString(new Random().nextLong());

  /** What failed that should not. */
  public final List<String> faults = new CopyOnWriteArrayList<>();

  private final ThreadStrand strand;
  private final ThreadStrand leaseStrand = new ThreadStrand("leases");
  private final ThreadStrand sideStrand = new ThreadStrand("side");
  private final List<Etcd> clients = new CopyOnWriteArrayList<>();
  private final Map<String, ManagedChannel> channels = new ConcurrentHashMap<>();
  private final Random random = new Random();
  private final Server server;
  private final Leadership leadership;

  /** Makes a client of etcd. */
  public interface Clients {
    Etcd create(String name);
  }

  public WiredNode(String id, Clients etcd, Keys keys) {
    this.id = id;
    this.strand = new ThreadStrand("loop", true, this::onFault);
    Etcd reads = client(etcd, "reads");
    this.streams = new WorkerStreams(strand, id, GENERATION);
    this.peers = new GrpcPeers(GENERATION, incarnation, this::channel, sideStrand);
    Resolver resolver = new Resolver();
    Loop parts =
        new Loop(
            strand,
            client(etcd, "appends"),
            reads,
            keys,
            new JournalClock(),
            GENERATION,
            streams,
            peers,
            new LoopListener() {
              @Override
              public void onFault(String what) {
                faults.add(what);
              }
            },
            LoopSettings.defaults(id),
            resolver,
            Runnable::run,
            random);
    this.loop =
        new SchedulerLoop(
            parts,
            new SchedulerLoop.Outside(
                List::of, new Ports(), () -> false, loaded -> {}, leads -> {}, faults::add));
    streams.attach(loop);
    peers.attach(loop);
    BatonApi api =
        new BatonApi(
            loop,
            new BatonApi.Parts(
                sideStrand,
                reads,
                keys,
                new WorkflowReader(resolver),
                this::channel,
                () -> new RunId(System.currentTimeMillis() << 16, random.nextLong()),
                () -> ListNodesResponse.newBuilder().setTerm(loop.leader().term()).build()));
    WorkerRegistrar registrar =
        new WorkerRegistrar(reads, keys, sideStrand, new Ports(), this::schedulers);
    this.server = serve(api, new WorkerService(streams, registrar));
    this.address = "127.0.0.1:" + server.getPort();
    LeaderRecord me =
        LeaderRecord.newBuilder()
            .setNodeId(id)
            .setIncarnation(incarnation)
            .setApiAddress(address)
            .build();
    this.leadership =
        new Leadership(
            client(etcd, "leases"), leaseStrand, random, keys, me, Duration.ofSeconds(2), loop);
    loop.start(leadership);
  }

  private void onFault(Throwable fault) {
    loop.onStrandFault(fault);
  }

  private Etcd client(Clients etcd, String name) {
    Etcd client = etcd.create(name);
    clients.add(client);
    return client;
  }

  private List<SchedulerAddress> schedulers() {
    return List.of(SchedulerAddress.newBuilder().setNodeId(id).setAddress(address).build());
  }

  private Server serve(BatonApi api, WorkerService workers) {
    try {
      return NettyServerBuilder.forAddress(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
          .maxInboundMessageSize(4 << 20)
          .intercept(new ForwardedCalls())
          .addService(workers)
          .addService(peers)
          .addService(api)
          .build()
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A channel to any node, kept. */
  public ManagedChannel channel(String target) {
    return channels.computeIfAbsent(
        target, t -> NettyChannelBuilder.forTarget(t).usePlaintext().disableRetry().build());
  }

  /** A channel to this node. */
  public ManagedChannel channel() {
    return channel(address);
  }

  public BatonServiceBlockingStub api() {
    return api(RealEtcd.SOON);
  }

  public BatonServiceBlockingStub api(Duration deadline) {
    return BatonServiceGrpc.newBlockingStub(channel())
        .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
  }

  public WiredNode awaitLeading() {
    RealEtcd.awaitUntil(id + " leads", () -> loop.leader().isSelf());
    return this;
  }

  public WiredNode awaitStandby() {
    RealEtcd.awaitUntil(id + " follows", () -> loop.status().role() == Role.STANDBY);
    return this;
  }

  /** Gives leadership back and ends, as at SIGTERM; the server goes on. */
  public void resign() {
    RealEtcd.await(loop.resign());
  }

  @Override
  public void close() {
    RealEtcd.await(loop.resign());
    RealEtcd.await(leadership.close());
    RealEtcd.await(loop.close());
    server.shutdownNow();
    channels.values().forEach(ManagedChannel::shutdownNow);
    strand.close();
    leaseStrand.close();
    sideStrand.close();
    clients.forEach(Etcd::close);
  }
}
