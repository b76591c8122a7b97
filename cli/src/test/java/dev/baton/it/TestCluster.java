package dev.baton.it;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.client.BatonClient;
import dev.baton.client.ClientOptions;
import dev.baton.client.Endpoint;
import dev.baton.coordination.server.EtcdCluster;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.BatonServiceGrpc.BatonServiceBlockingStub;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A cluster for the tests of one class, as an extension: it starts before the first and is gone
 * after the last. When a test fails it prints where the logs are, and their ends.
 *
 * <p>All it writes stands in {@code target/it/NAME}, and stays there.
 */
final class TestCluster implements BeforeAllCallback, AfterAllCallback, AfterTestExecutionCallback {
  private static final Duration ETCD_START = Duration.ofSeconds(60);

  private final Plan plan;
  private final Path folder;
  private final List<TestNode> schedulers = new ArrayList<>();
  private final List<TestNode> workers = new ArrayList<>();
  private final Map<String, ManagedChannel> channels = new ConcurrentHashMap<>();
  private final List<BatonClient> clients = new ArrayList<>();
  private final Thread guard = new Thread(this::killAll, "test cluster guard");
  private @Nullable EtcdCluster etcd;
  private @Nullable BatonClient client;

  /**
   * What to start.
   *
   * @param schedulerSettings {@code path=value}, over the defaults
   * @param workerSettings the same for workers
   */
  record Plan(
      String name,
      int etcd,
      int schedulers,
      int workers,
      List<String> schedulerSettings,
      List<String> workerSettings) {
    Plan schedulerSettings(String... settings) {
      return new Plan(name, etcd, schedulers, workers, List.of(settings), workerSettings);
    }

    Plan workerSettings(String... settings) {
      return new Plan(name, etcd, schedulers, workers, schedulerSettings, List.of(settings));
    }

    TestCluster build() {
      return new TestCluster(this);
    }
  }

  private TestCluster(Plan plan) {
    this.plan = plan;
    this.folder = Path.of("target", "it", plan.name()).toAbsolutePath();
  }

  static Plan of(String name, int etcd, int schedulers, int workers) {
    return new Plan(name, etcd, schedulers, workers, List.of(), List.of());
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    Runtime.getRuntime().addShutdownHook(guard);
    deleteFolder();
    try {
      Files.createDirectories(folder);
      etcd =
          EtcdCluster.start(
              new EtcdCluster.Options(
                  folder.resolve("etcd"), plan.etcd(), null, List.of(), ETCD_START));
      for (int i = 1; i <= plan.schedulers(); i++) {
        schedulers.add(newScheduler("s" + i));
      }
      for (int i = 1; i <= plan.workers(); i++) {
        workers.add(newWorker("w" + i));
      }
      all().forEach(TestNode::start);
      all().forEach(TestNode::awaitReady);
      leader();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      printLogs();
      killAll();
      throw e;
    }
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    if (context.getExecutionException().isPresent()) {
      System.out.println(context.getDisplayName() + " failed");
      printLogs();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    clients.forEach(BatonClient::close);
    channels.values().forEach(ManagedChannel::shutdownNow);
    killAll();
    try {
      Runtime.getRuntime().removeShutdownHook(guard);
    } catch (IllegalStateException e) {
      // The JVM ends; the guard runs already.
    }
  }

  // Members.

  Path folder() {
    return folder;
  }

  EtcdCluster etcd() {
    if (etcd == null) {
      throw new IllegalStateException("Expected a cluster that was started.");
    }
    return etcd;
  }

  List<TestNode> schedulers() {
    return List.copyOf(schedulers);
  }

  List<TestNode> workers() {
    return List.copyOf(workers);
  }

  /** A scheduler or worker by its id. */
  TestNode node(String id) {
    return all().stream().filter(node -> node.id().equals(id)).findFirst().orElseThrow();
  }

  /** A scheduler that is not in the cluster yet; the caller starts it. */
  TestNode newScheduler(String id, String... settings) {
    int grpcPort = TestPorts.choose();
    int httpPort = TestPorts.choose();
    List<String> command = NodeCommands.scheduler(id, etcd().endpoints(), grpcPort, httpPort);
    return new TestNode(
        id, grpcPort, httpPort, with(command, plan.schedulerSettings(), settings), log(id));
  }

  /** A worker that is not in the cluster yet; the caller starts it, and may close it. */
  TestNode newWorker(String id, String... settings) {
    int httpPort = TestPorts.choose();
    List<String> command =
        NodeCommands.worker(id, etcd().endpoints(), httpPort, folder.resolve(id + ".trace"));
    TestNode node =
        new TestNode(id, 0, httpPort, with(command, plan.workerSettings(), settings), log(id));
    Runtime.getRuntime().addShutdownHook(new Thread(node::close));
    return node;
  }

  /** A worker in another language; the caller starts and closes it. */
  TestNode foreignWorker(String id, List<String> command) {
    TestNode node = new TestNode(id, 0, 0, command, log(id));
    Runtime.getRuntime().addShutdownHook(new Thread(node::close));
    return node;
  }

  /** What worker nodes of this id noted; see the setting {@code trace.file}. */
  Path trace(TestNode worker) {
    return folder.resolve(worker.id() + ".trace");
  }

  /** A fresh scene for one test. */
  Scene scene() {
    return Scene.in(folder);
  }

  // Leadership.

  /** The scheduler that leads; waits for one. */
  TestNode leader() {
    return leaderAfter(0);
  }

  /** The scheduler that leads in a later term than this one; waits for it. */
  TestNode leaderAfter(long term) {
    return Awaitility.await("a leader after term " + term)
        .atMost(TestNode.PATIENCE)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> newestLeader(term), Optional::isPresent)
        .orElseThrow();
  }

  /** The term that a node is in, by its own word. */
  static long term(TestNode node) {
    return node.status().path("term").asLong();
  }

  List<TestNode> standbys() {
    TestNode leader = leader();
    return schedulers.stream().filter(node -> node != leader && node.isAlive()).toList();
  }

  /** Starts again whatever is down, wakes what stands still, and waits until all is well. */
  void heal() {
    for (TestNode node : all()) {
      if (node.isAlive()) {
        node.resume();
      } else {
        node.start();
      }
    }
    all().forEach(TestNode::awaitReady);
    leader();
  }

  // Ways in.

  /** A client that knows every scheduler. */
  BatonClient client() {
    if (client == null) {
      client = client(schedulers.toArray(TestNode[]::new));
    }
    return client;
  }

  /** A client that was told of these schedulers; closed with the cluster. */
  BatonClient client(TestNode... nodes) {
    List<Endpoint> endpoints =
        Stream.of(nodes).map(node -> Endpoint.parse(node.apiAddress())).toList();
    BatonClient made = new BatonClient(ClientOptions.of(endpoints).withCallTimeout(Runs.CALL));
    clients.add(made);
    return made;
  }

  /** Calls to this node and no other, never repeated. */
  BatonServiceBlockingStub stub(TestNode node) {
    return BatonServiceGrpc.newBlockingStub(channel(node))
        .withDeadlineAfter(Runs.CALL.toSeconds(), TimeUnit.SECONDS);
  }

  ManagedChannel channel(TestNode node) {
    return channels.computeIfAbsent(
        node.apiAddress(),
        address -> NettyChannelBuilder.forTarget(address).usePlaintext().build());
  }

  /** What a test measured, for people. */
  static void measured(String what) {
    System.out.println("measured: " + what);
  }

  private Optional<TestNode> newestLeader(long after) {
    TestNode newest = null;
    long highest = after;
    for (TestNode node : schedulers) {
      JsonNode status = node.isAlive() ? node.status() : null;
      if (status != null && "leading".equals(status.path("role").asText())) {
        long term = status.path("term").asLong();
        if (term > highest) {
          highest = term;
          newest = node;
        }
      }
    }
    return Optional.ofNullable(newest);
  }

  private List<TestNode> all() {
    return Stream.concat(schedulers.stream(), workers.stream()).toList();
  }

  private Path log(String id) {
    return folder.resolve(id + ".log");
  }

  private static List<String> with(List<String> command, List<String> planned, String... settings) {
    List<String> full = new ArrayList<>(command);
    Stream.concat(planned.stream(), Stream.of(settings))
        .forEach(setting -> full.addAll(List.of("--set", setting)));
    return full;
  }

  private void printLogs() {
    System.out.println("The logs stand in " + folder + "; their ends:");
    all().forEach(node -> System.out.println(node.lastLogLines()));
  }

  private void killAll() {
    all().forEach(TestNode::close);
    if (etcd != null) {
      etcd.close();
    }
  }

  private void deleteFolder() {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
