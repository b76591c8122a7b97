package dev.baton.worker;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Registry;
import dev.baton.coordination.ThreadStrand;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.node.EtcdGate;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.node.Health;
import dev.baton.node.HostPort;
import dev.baton.node.HttpPort;
import dev.baton.node.Metrics;
import dev.baton.proto.v1.NodeRecord;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.worker.WorkerLoop.State;
import dev.baton.worker.attempt.AttemptTimers;
import dev.baton.worker.attempt.TraceFile;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running worker, in a process of its own or embedded in yours.
 *
 * <pre>{@code
 * try (Worker worker =
 *     Worker.builder("greeter-1")
 *         .etcd("127.0.0.1:2379")
 *         .handler("greet", task -> Map.of("text", "Hello " + task.input("name", String.class)))
 *         .start()) {
 *   ...
 * }
 * }</pre>
 *
 * <p>It registers in etcd, finds the schedulers there, and keeps a stream to each. {@link #close}
 * drains it: nothing new is started, what runs may end, results are handed over.
 */
public final class Worker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);

  /** For handlers that were told to stop when the drain limit had passed. */
  private static final Duration STOP_BOUND = Duration.ofSeconds(8);

  /** For acknowledgements of the last results; a fail-over fits in. */
  private static final Duration FLUSH_BOUND = Duration.ofSeconds(10);

  private static final Duration REVOKE_BOUND = Duration.ofSeconds(3);

  private final WorkerBuilder settings;
  private final String incarnation;
  private final Deque<AutoCloseable> resources = new ArrayDeque<>();
  private final ThreadStrand strand;
  private final WorkerLoop loop;
  private final HttpPort http;
  private final Registry nodes;
  private volatile @Nullable Registration registration;
  private volatile @Nullable ExitException refused;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean draining;

  /** Begins to describe a worker; the id is unique in its cluster and stays over restarts. */
  public static WorkerBuilder builder(String id) {
    return new WorkerBuilder(id);
  }

  Worker(WorkerBuilder settings) throws InterruptedException {
    SecureRandom random = new SecureRandom();
    this.settings = settings;
    this.incarnation = HexFormat.of().toHexDigits(random.nextLong());
    boolean complete = false;
    try {
      Metrics metrics = later(new Metrics());
      TraceFile trace = settings.traceFile == null ? null : later(open(settings.traceFile));
      strand = later(new ThreadStrand("worker"));
      WorkerMeters meters = new WorkerMeters(metrics.registry());
      loop =
          new WorkerLoop(
              new WorkerLoop.Identity(settings.id, incarnation, settings.slots, settings.handlers),
              strand,
              new AttemptTimers(metrics.registry()),
              meters,
              this::confirmedLease,
              this::drainAsked,
              trace);
      http =
          later(
              HttpPort.open(
                  settings.listen.http(),
                  "listen.httpPort",
                  HttpPort.routes(metrics, this::health, this::readiness)));
      Keys keys = new Keys(settings.namespace);
      Etcd leaseClient = later(JetcdEtcd.create(settings.etcd(), "lease"));
      Etcd watchClient = later(JetcdEtcd.create(settings.etcd(), "watch"));
      EtcdGate.await(
          watchClient, keys, settings.etcd().endpoints(), settings.etcdStartTimeout, random);
      nodes = new Registry(watchClient, strand, keys.nodes(), random);
      nodes.add(new Nodes(loop));
      Registration mine =
          new Registration(
              leaseClient,
              later(new ThreadStrand("registration")),
              random,
              keys,
              record(settings.listen.advertised(http.address().port())),
              new RegistrationEvents());
      registration = mine;
      meters.watch(settings.slots, loop::state, this::isRegistered);
      strand.execute(loop::start);
      mine.start();
      complete = true;
    } finally {
      if (!complete) {
        closeResources();
      }
    }
  }

  /** This process life of the worker: random, drawn at its start. */
  public String incarnation() {
    return incarnation;
  }

  /** Where {@code /metrics}, {@code /healthz} and {@code /readyz} are served. */
  public HostPort httpAddress() {
    return http.address();
  }

  /** Registered, and in touch with a leader. */
  public boolean isReady() {
    State now = loop.state();
    return isRegistered() && now.leader() != null && now.streamsConnected() > 0 && !draining;
  }

  /** Waits until somebody has closed the worker: its own threads do not keep a process alive. */
  public void awaitClosed() throws InterruptedException {
    closed.await();
  }

  /**
   * Drains and ends the worker: assignments are returned; running attempts have the drain limit to
   * end, and what still runs then is stopped and lost, to be run elsewhere; results are handed
   * over; the key is given up.
   */
  @Override
  public void close() {
    if (draining) {
      return;
    }
    draining = true;
    log.info("draining: {} attempts run", loop.state().running());
    strand.execute(loop::beginDrain);
    Registration mine = registration;
    if (mine != null) {
      mine.drain();
    }
    if (!done(loop.when(state -> state.running() == 0), settings.drainLimit)) {
      log.warn(
          "{} attempts still run after the drain limit of {} s; they are stopped and will be run"
              + " elsewhere",
          loop.state().running(),
          settings.drainLimit.toSeconds());
      strand.execute(loop::abandon);
      if (!done(loop.when(state -> state.handlers() == 0), STOP_BOUND)) {
        log.warn("{} handlers have not returned; ending without them", loop.state().handlers());
      }
    }
    if (!done(loop.when(state -> state.outbox() == 0), FLUSH_BOUND)) {
      log.warn("{} results could not be handed over", loop.state().outbox());
    }
    if (mine != null && !done(mine.close(), REVOKE_BOUND)) {
      log.warn("the registration could not be given up; it ends with its lease");
    }
    strand.execute(() -> {
      nodes.close();
      loop.closeStreams();
    });
    closeResources();
    log.info("worker {} has ended", settings.id);
    closed.countDown();
  }

  /**
   * An operator has drained the worker: nothing new is started, and what runs may take as long as
   * it takes.
   */
  private void drainAsked() {
    log.info("asked to drain: {} attempts run", loop.state().running());
    Registration mine = registration;
    if (mine != null) {
      mine.drain();
    }
    var unused =
        loop.when(state -> state.running() == 0 && state.outbox() == 0)
            .thenRun(() -> Thread.ofPlatform().name("drained").start(this::drained));
  }

  private void drained() {
    log.info("drained");
    Runnable listener = settings.onDrained;
    if (listener == null) {
      close();
    } else {
      listener.run();
    }
  }

  /** How long {@link #close} may take. */
  Duration closeBound() {
    return settings.drainLimit.plus(STOP_BOUND).plus(FLUSH_BOUND).plus(REVOKE_BOUND).plusSeconds(5);
  }

  private Health health() {
    return new Health(refused == null, details());
  }

  private Health readiness() {
    return new Health(isReady(), details());
  }

  private Map<String, Object> details() {
    State now = loop.state();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("id", settings.id);
    details.put("incarnation", incarnation);
    details.put("role", "worker");
    details.put("draining", draining);
    details.put("registered", isRegistered());
    details.put("slots", settings.slots);
    details.put("slotsUsed", now.slotsUsed());
    details.put("outbox", now.outbox());
    details.put("overdueHandlers", now.overdue());
    details.put("schedulers", now.streamsKnown());
    details.put("schedulersConnected", now.streamsConnected());
    details.put("term", now.term());
    details.put("leader", now.leader() == null ? "" : now.leader());
    return details;
  }

  /** The HTTP port answers before there is a registration. */
  private boolean isRegistered() {
    Registration mine = registration;
    return mine != null && mine.held();
  }

  private long confirmedLease() {
    Registration mine = registration;
    return mine == null ? 0 : mine.confirmedLease();
  }

  private WorkerRecord record(HostPort address) {
    return WorkerRecord.newBuilder()
        .setWorkerId(settings.id)
        .setIncarnation(incarnation)
        .setHost(address.host())
        .setPort(address.port())
        .addAllCapabilities(new TreeSet<>(settings.handlers.keySet()))
        .putAllLabels(settings.labels)
        .setSlots(settings.slots)
        .setVersion(settings.version())
        .build();
  }

  private static TraceFile open(Path path) {
    try {
      return new TraceFile(path);
    } catch (IOException e) {
      throw new ExitException(
          ExitCode.CONFIGURATION, "trace.file: %s cannot be written: %s".formatted(path, e), e);
    }
  }

  private <T extends AutoCloseable> T later(T resource) {
    resources.push(resource);
    return resource;
  }

  private void closeResources() {
    for (AutoCloseable resource : resources) {
      try {
        resource.close();
      } catch (Exception e) {
        log.warn("a part of the worker did not close cleanly", e);
      }
    }
    resources.clear();
  }

  private static boolean done(Future<?> future, Duration bound) {
    long end = System.nanoTime() + bound.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
          return true;
        } catch (TimeoutException e) {
          return false;
        } catch (InterruptedException e) {
          interrupted = true; // a drain that has begun is brought to its end
        } catch (ExecutionException e) {
          log.warn("draining met a fault", e);
          return false;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private final class RegistrationEvents implements Registration.Events {
    private boolean first = true;

    @Override
    public void registered() {
      if (first) {
        first = false;
        // Before, a stream would only be drained of results.
        strand.execute(nodes::start);
      }
    }

    @Override
    public void refused(ExitException reason) {
      refused = reason;
      Consumer<ExitException> listener = settings.onRefused;
      if (listener == null) {
        log.error("{}", reason.sentence());
      } else {
        listener.accept(reason);
      }
    }
  }

  /** Scheduler nodes, as etcd lists them. */
  private record Nodes(WorkerLoop loop) implements Registry.Listener {
    @Override
    public void onPut(KeyValue keyValue) {
      try {
        NodeRecord node = NodeRecord.parseFrom(keyValue.value());
        loop.nodePut(node.getNodeId(), node.getApiAddress());
      } catch (InvalidProtocolBufferException e) {
        log.warn("{} holds no scheduler node", keyValue.key().toStringUtf8(), e);
      }
    }

    @Override
    public void onDelete(ByteString key) {
      String text = key.toStringUtf8();
      loop.nodeGone(text.substring(text.lastIndexOf('/') + 1));
    }
  }
}
