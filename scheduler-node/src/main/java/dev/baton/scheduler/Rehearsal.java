package dev.baton.scheduler;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Leadership;
import dev.baton.coordination.ThreadStrand;
import dev.baton.coordination.Txn;
import dev.baton.node.Logs;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.BatonServiceGrpc.BatonServiceStub;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.api.BatonApi;
import dev.baton.scheduler.api.WorkerRegistrar;
import dev.baton.scheduler.dispatch.WorkerStreams;
import dev.baton.scheduler.journal.JournalClock;
import dev.baton.scheduler.loop.Loop;
import dev.baton.scheduler.loop.LoopListener;
import dev.baton.scheduler.loop.LoopSettings;
import dev.baton.scheduler.loop.Peers;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.loop.WorkerPorts;
import dev.baton.scheduler.model.RunId;
import dev.baton.workflow.Resolver;
import dev.baton.workflow.WorkflowReader;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.slf4j.MDC;

/**
 * A term that is played before the node may lead: the real loop, API and streams, on an etcd that
 * is a map and with a worker that succeeds at once. The JVM loads and compiles a leader's code when
 * it first runs; without this a standby would do so in the middle of a fail-over, which takes
 * several times as long as the fail-over itself.
 */
final class Rehearsal {
  /** It may take so long while others can do without this node. */
  private static final Duration LONGEST = Duration.ofSeconds(20);

  /** And so long where it is waited for. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  private static final Duration LOOK = Duration.ofMillis(250);
  private static final int RUNS = 200;
  private static final int AT_ONCE = 32;
  private static final long GENERATION = 1;
  private static final String NAME = "rehearsal";
  private static final String WORKFLOW =
      """
      name: rehearsal
      tasks:
        - {id: a, type: echo, params: {n: 1}}
        - {id: b, type: echo, dependsOn: [a], params: {of: "${{ tasks.a.output }}"}}
        - {id: c, type: echo, dependsOn: [a]}
        - {id: d, type: echo, dependsOn: [b, c]}
      """;

  private final Random random = new Random(1);
  private final Keys keys = new Keys(NAME);
  private final PretendEtcd etcd = new PretendEtcd();
  private final ThreadStrand strand = new ThreadStrand(NAME);
  private final WorkerStreams streams = new WorkerStreams(strand, NAME, GENERATION);
  private final Resolver resolver = new Resolver();
  private final SchedulerLoop loop =
      new SchedulerLoop(
          new Loop(
              strand,
              etcd,
              etcd,
              keys,
              new JournalClock(),
              GENERATION,
              streams,
              Peers.NONE,
              LoopListener.NONE,
              LoopSettings.defaults(NAME),
              resolver,
              Runnable::run,
              random),
          new SchedulerLoop.Outside(
              List::of, WorkerPorts.NONE, () -> false, loaded -> {}, leads -> {}, fatal -> {}));

  private Rehearsal() {}

  /**
   * One that is played, on a thread of its own.
   *
   * @param task which of them; true: it was played to its end
   * @param beganNanos by the monotonic clock
   */
  record UnderWay(FutureTask<Boolean> task, long beganNanos) {
    /**
     * Waits for it, and cuts it short after five seconds unless there is time: then after twenty.
     * False: it was cut short.
     */
    boolean await(BooleanSupplier hasTime) throws InterruptedException, ExecutionException {
      Duration wait = SHORT.minusNanos(System.nanoTime() - beganNanos);
      while (true) {
        try {
          return task.get(Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          if (!hasTime.getAsBoolean()) {
            task.cancel(true);
            return false;
          }
          wait = LOOK;
        }
      }
    }
  }

  static UnderWay begin() {
    FutureTask<Boolean> task = new FutureTask<>(() -> new Rehearsal().play());
    Thread.ofPlatform().daemon().name(NAME).start(task);
    return new UnderWay(task, System.nanoTime());
  }

  private boolean play() {
    long deadline = System.nanoTime() + LONGEST.toNanos();
    strand.execute(() -> MDC.put(Logs.QUIET, NAME));
    streams.attach(loop);
    Channels channels = new Channels();
    Server server = serve(channels);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(server.getListenSockets().getFirst()).usePlaintext().build();
    try {
      WorkerRecord worker =
          WorkerRecord.newBuilder()
              .setWorkerId(NAME)
              .setIncarnation(NAME)
              .addCapabilities("*")
              .setSlots(AT_ONCE)
              .build();
      Txn.Op put = new Txn.Op.Put(keys.worker(NAME), worker.toByteString(), 0);
      etcd.txn(new Txn(List.of(), List.of(put), List.of()), LONGEST).join();
      CountDownLatch ended = new CountDownLatch(4 * RUNS);
      RehearsalWorker.open(channel, NAME, GENERATION, ended);
      LeaderRecord me = LeaderRecord.newBuilder().setNodeId(NAME).build();
      loop.start(new Leadership(etcd, strand, random, keys, me, Leadership.DEFAULT_TTL, loop));
      return submit(channel, deadline)
          && ended.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
      channels.close();
      loop.close().join();
      strand.close();
    }
  }

  private Server serve(Channels channels) {
    BatonApi api =
        new BatonApi(
            loop,
            new BatonApi.Parts(
                strand,
                etcd,
                keys,
                new WorkflowReader(resolver),
                channels,
                () -> new RunId(random.nextLong() >>> 1, random.nextLong()),
                ListNodesResponse::getDefaultInstance));
    WorkerRegistrar registrar = new WorkerRegistrar(etcd, keys, strand, WorkerPorts.NONE, List::of);
    try {
      return NettyServerBuilder.forAddress(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
          .addService(new WorkerService(streams, registrar))
          .addService(api)
          .build()
          .start();
    } catch (IOException e) {
      throw new IllegalStateException("Expected a free port of the loopback address", e);
    }
  }

  /** The API waits by itself until somebody leads. */
  private static boolean submit(ManagedChannel channel, long deadline) throws InterruptedException {
    SubmitRunRequest request =
        SubmitRunRequest.newBuilder().setDefinitionBytes(ByteString.copyFromUtf8(WORKFLOW)).build();
    BatonServiceStub api = BatonServiceGrpc.newStub(channel);
    Semaphore room = new Semaphore(AT_ONCE);
    for (int i = 0; i < RUNS; i++) {
      if (!room.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        return false;
      }
      api.withDeadlineAfter(LONGEST.toMillis(), TimeUnit.MILLISECONDS)
          .submitRun(request, new Release(room));
    }
    return true;
  }

  private record Release(Semaphore room) implements StreamObserver<SubmitRunResponse> {
    @Override
    public void onNext(SubmitRunResponse response) {}

    @Override
    public void onError(Throwable failure) {
      room.release();
    }

    @Override
    public void onCompleted() {
      room.release();
    }
  }
}
