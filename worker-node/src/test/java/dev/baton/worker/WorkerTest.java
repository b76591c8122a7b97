package dev.baton.worker;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.coordination.server.EtcdCluster;
import dev.baton.node.EtcdSettings;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.node.HostPort;
import dev.baton.node.ListenSettings;
import dev.baton.node.LogSettings;
import dev.baton.proto.v1.NodeRecord;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.WorkerMessage;
import dev.baton.proto.v1.WorkerRecord;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.event.Level;

/** Workers on a real etcd, with schedulers that the tests play. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WorkerTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  private String namespace = "";
  private Keys keys = new Keys("none");
  private final EtcdCluster cluster;
  private final Etcd etcd;

  WorkerTest(@TempDir Path directory) {
    cluster = EtcdCluster.start(directory, 1);
    etcd = JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), "test");
  }

  @BeforeEach
  void useKeysOfItsOwn() {
    namespace = "w" + UUID.randomUUID().toString().substring(0, 8);
    keys = new Keys(namespace);
  }

  @AfterAll
  void close() {
    etcd.close();
    cluster.close();
  }

  @Test
  void shouldRegisterUnderALeaseAndAnswerOverHttp() throws Exception {
    try (Worker worker = builder("alone").label("zone", "a").slots(3).start()) {
      WorkerRecord record = awaitRecord("alone", worker.incarnation());
      assertEquals(List.of("echo", "sleep", "text_process"), record.getCapabilitiesList());
      assertEquals("a", record.getLabelsOrThrow("zone"));
      assertEquals(3, record.getSlots());
      assertEquals("127.0.0.1", record.getHost());
      assertEquals(worker.httpAddress().port(), record.getPort());
      assertNotEquals(0, find("alone").orElseThrow().leaseId());
      JsonNode health = JSON.readTree(get(worker, "/healthz").body());
      assertEquals(worker.incarnation(), health.get("incarnation").textValue());
      assertEquals("worker", health.get("role").textValue());
      assertEquals(503, get(worker, "/readyz").statusCode(), "no scheduler is there");
      assertTrue(get(worker, "/metrics").body().contains("worker_slots_used 0.0"));
    }
    assertEquals(Optional.empty(), find("alone"), "the key is given up");
  }

  @Test
  void shouldFindSchedulersAndRunTheirTasks() throws Exception {
    try (FakeScheduler scheduler = listed("runs-s1");
        Worker worker = builder("runs").start()) {
      scheduler.lead(3);
      await().atMost(SOON).until(worker::isReady);
      scheduler.assign(FakeScheduler.task("a", "echo").putParams("x", "1").build());
      TaskResult result = scheduler.awaitResult("a");
      assertEquals("{\"x\":1}", result.getOutputJson());
      scheduler.ack(result);
      assertTrue(
          get(worker, "/metrics")
              .body()
              .contains(
                  "workflow_task_duration_seconds_count{status=\"SUCCESS\",task_type=\"echo\"} 1"));
    }
  }

  @Test
  void shouldGiveUpWhileAnotherAnswersUnderItsId() throws Exception {
    try (Worker first = builder("twice").start()) {
      awaitRecord("twice", first.incarnation());
      CompletableFuture<ExitException> refused = new CompletableFuture<>();
      long start = System.nanoTime();
      try (Worker second = builder("twice").onRefused(refused::complete).start()) {
        ExitException reason = refused.get(15, TimeUnit.SECONDS);
        assertTrue(System.nanoTime() - start >= TimeUnit.SECONDS.toNanos(3));
        assertEquals(ExitCode.ID_IN_USE, reason.code());
        assertEquals(
            "the worker id 'twice' is in use: incarnation %s at %s answers; stop that process or choose another id (--id)"
                .formatted(first.incarnation(), first.httpAddress()),
            reason.sentence());
        assertFalse(second.isReady());
      }
      assertEquals(first.incarnation(), record("twice").orElseThrow().getIncarnation());
    }
  }

  @Test
  void shouldTakeOverAsSoonAsTheFirstIsGone() throws Exception {
    Worker first = builder("heir").start();
    awaitRecord("heir", first.incarnation());
    CompletableFuture<ExitException> refused = new CompletableFuture<>();
    try (Worker second = builder("heir").onRefused(refused::complete).start()) {
      first.close();
      awaitRecord("heir", second.incarnation());
      assertFalse(refused.isDone());
    }
  }

  @Test
  void shouldWaitForTheKeyOfADeadOne() throws Exception {
    WorkerRecord dead =
        WorkerRecord.newBuilder()
            .setWorkerId("grave")
            .setIncarnation("dead")
            .setHost("127.0.0.1")
            .setPort(freePort())
            .build();
    put(keys.worker("grave"), dead.toByteString());
    CompletableFuture<ExitException> refused = new CompletableFuture<>();
    try (Worker worker = builder("grave").onRefused(refused::complete).start()) {
      assertThrows(Exception.class, () -> refused.get(4, TimeUnit.SECONDS));
      delete(keys.worker("grave"));
      awaitRecord("grave", worker.incarnation());
    }
  }

  @Test
  void shouldKeepRunningAndRegisterAgainWhenItsLeaseIsLost() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    try (FakeScheduler scheduler = listed("lease-s1");
        Worker worker =
            builder("lease").handler("gate", task -> gate.await(30, TimeUnit.SECONDS)).start()) {
      scheduler.lead(3);
      await().atMost(SOON).until(worker::isReady);
      scheduler.assign(FakeScheduler.task("a", "gate").build());
      Etcd.KeyValue before = find("lease").orElseThrow();
      etcd.revoke(before.leaseId(), SOON).get(5, TimeUnit.SECONDS);
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() ->
              find("lease")
                  .filter(now -> now.createRevision() > before.createRevision())
                  .isPresent());
      assertEquals(worker.incarnation(), record("lease").orElseThrow().getIncarnation());
      gate.countDown();
      TaskResult result = scheduler.awaitResult("a");
      assertEquals("true", result.getOutputJson());
      scheduler.ack(result);
    }
  }

  @Test
  void shouldDrain() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    try (FakeScheduler scheduler = listed("drain-s1")) {
      Worker worker =
          builder("drain").handler("gate", task -> gate.await(30, TimeUnit.SECONDS)).start();
      scheduler.lead(3);
      await().atMost(SOON).until(worker::isReady);
      scheduler.assign(FakeScheduler.task("a", "gate").build());
      scheduler.await(message -> message.hasPing());
      CompletableFuture<Void> closed = CompletableFuture.runAsync(worker::close);
      await().atMost(SOON).until(() -> record("drain").orElseThrow().getSlots() == 0);
      assertFalse(worker.isReady());
      scheduler.assign(FakeScheduler.task("b", "echo").build());
      WorkerMessage returned = scheduler.await(message -> message.getReturnedCount() > 0);
      assertEquals("b", returned.getReturned(0).getTaskId());
      gate.countDown();
      TaskResult result = scheduler.awaitResult("a");
      assertFalse(closed.isDone(), "the result is not acknowledged");
      scheduler.ack(result);
      closed.get(10, TimeUnit.SECONDS);
      assertEquals(Optional.empty(), find("drain"));
    }
  }

  @Test
  void shouldStopWithoutAResultWhatStillRunsAfterTheDrainLimit() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch began = new CountDownLatch(1);
    try (FakeScheduler scheduler = listed("limit-s1")) {
      Worker worker =
          builder("limit")
              .drainLimit(Duration.ofMillis(200))
              .handler(
                  "stubborn",
                  task -> {
                    began.countDown();
                    try {
                      return new CountDownLatch(1).await(30, TimeUnit.SECONDS);
                    } finally {
                      interrupted.countDown();
                    }
                  })
              .start();
      scheduler.lead(3);
      await().atMost(SOON).until(worker::isReady);
      scheduler.assign(FakeScheduler.task("a", "stubborn").build());
      assertTrue(began.await(10, TimeUnit.SECONDS));
      worker.close();
      assertEquals(0, interrupted.getCount());
      assertTrue(scheduler.heard().stream().allMatch(message -> message.getResultsCount() == 0));
    }
  }

  @Test
  void shouldSayThatEtcdDoesNotAnswer() throws Exception {
    String endpoint = "127.0.0.1:" + freePort();
    WorkerBuilder builder =
        Worker.builder("nobody").etcd(endpoint).etcdStartTimeout(Duration.ofSeconds(1)).builtIns();
    ExitException reason = assertThrows(ExitException.class, builder::start);
    assertEquals(ExitCode.UNREACHABLE, reason.code());
    assertTrue(
        reason.sentence().startsWith("etcd at " + endpoint + " did not answer within 1 s ("),
        reason.sentence());
  }

  @Test
  void shouldSayThatItsPortIsTaken() throws Exception {
    try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      WorkerBuilder builder =
          builder("port").listen(new ListenSettings(0, holder.getLocalPort(), null, null));
      ExitException reason = assertThrows(ExitException.class, builder::start);
      assertEquals(ExitCode.PORT_IN_USE, reason.code());
    }
  }

  @Test
  void shouldRunAsAProcessUntilSigterm(@TempDir Path directory) throws Exception {
    Path trace = directory.resolve("trace");
    Path config =
        Files.writeString(
            directory.resolve("worker.yaml"),
            """
            id: process
            namespace: %s
            etcd:
              endpoints: [%s]
            capabilities: ["*", shell]
            trace:
              file: %s
            """
                .formatted(namespace, cluster.endpoints().getFirst(), trace));
    Process process = start(directory, "--config", config.toString());
    try (FakeScheduler scheduler = listed("process-s1")) {
      scheduler.lead(4);
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> scheduler.streams() > 0 && record("process").isPresent());
      assertEquals(
          List.of("echo", "shell", "sleep", "text_process"),
          record("process").orElseThrow().getCapabilitiesList());
      scheduler.await(WorkerMessage::hasInventory);
      scheduler.assign(
          FakeScheduler.task("a", "shell").putParams("command", "\"echo hi\"").build());
      TaskResult result = scheduler.awaitResult("a");
      assertTrue(result.getOutputJson().contains("\"stdout\":\"hi\\n\""), result.toString());
      scheduler.ack(result);
      process.destroy();
      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(0, process.exitValue(), Files.readString(directory.resolve("log")));
      assertEquals(Optional.empty(), find("process"));
      assertEquals(3, Files.readAllLines(trace).size());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void shouldEndAProcessWhoseIdIsInUse(@TempDir Path directory) throws Exception {
    try (Worker first = builder("single").start()) {
      awaitRecord("single", first.incarnation());
      Process process =
          start(
              directory,
              "--id",
              "single",
              "--namespace",
              namespace,
              "--etcd",
              cluster.endpoints().getFirst());
      try {
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals(3, process.exitValue());
        assertTrue(
            Files.readString(directory.resolve("log"))
                .contains("baton worker: the worker id 'single' is in use"));
      } finally {
        process.destroyForcibly();
      }
    }
  }

  @Test
  void shouldRefuseWrongSettings() {
    assertEquals(
        "capabilities: * or some of [echo, shell, sleep, text_process] are expected, but got 'x'; handlers of your own need a worker of your own (examples/java-worker)",
        refusal(List.of("x"), null, false));
    assertTrue(refusal(List.of("shell"), "10.0.0.1", false).contains("--insecure-shell"));
    assertEquals(
        "slots: 1 to 4096 are expected, but got 0",
        assertThrows(IllegalArgumentException.class, () -> settings(List.of("*"), null, false, 0))
            .getMessage());
    assertEquals(
        Set.of("echo", "sleep", "text_process", "shell"),
        settings(List.of("*", "shell"), "10.0.0.1", true, 1).types());
  }

  private static String refusal(
      List<String> capabilities, @Nullable String bind, boolean insecureShell) {
    return String.valueOf(
        assertThrows(
                IllegalArgumentException.class,
                () -> settings(capabilities, bind, insecureShell, 1))
            .getMessage());
  }

  private static WorkerSettings settings(
      List<String> capabilities, @Nullable String bind, boolean insecureShell, int slots) {
    return new WorkerSettings(
        "w1",
        "baton",
        new EtcdSettings(
            List.of(new HostPort("127.0.0.1", 2379)), SOON, null, null, null, null, null),
        new ListenSettings(0, 0, bind, null),
        slots,
        capabilities,
        Map.of(),
        SOON,
        insecureShell,
        new WorkerSettings.Trace(null),
        new LogSettings(LogSettings.Format.TEXT, Level.INFO));
  }

  private WorkerBuilder builder(String id) {
    return Worker.builder(id).namespace(namespace).etcd(cluster.endpoints().getFirst()).builtIns();
  }

  /** A scheduler that stands in etcd. */
  private FakeScheduler listed(String id) throws Exception {
    FakeScheduler scheduler = new FakeScheduler();
    put(
        keys.node(id),
        NodeRecord.newBuilder()
            .setNodeId(id)
            .setApiAddress(scheduler.address())
            .build()
            .toByteString());
    return scheduler;
  }

  private static Process start(Path directory, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:TieredStopAtLevel=1",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            WorkerNode.class.getName()));
    command.addAll(List.of(arguments));
    File log = directory.resolve("log").toFile();
    return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
  }

  private WorkerRecord awaitRecord(String id, String incarnation) {
    await()
        .atMost(SOON)
        .until(() -> record(id).filter(r -> r.getIncarnation().equals(incarnation)).isPresent());
    try {
      return record(id).orElseThrow();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private Optional<WorkerRecord> record(String id) throws Exception {
    Optional<Etcd.KeyValue> found = find(id);
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(WorkerRecord.parseFrom(found.get().value()));
  }

  private Optional<Etcd.KeyValue> find(String id) throws Exception {
    return Optional.ofNullable(
        etcd.get(keys.worker(id), SOON).get(10, TimeUnit.SECONDS).keyValue());
  }

  private void put(ByteString key, ByteString value) throws Exception {
    write(new Txn.Op.Put(key, value, 0));
  }

  private void delete(ByteString key) throws Exception {
    write(new Txn.Op.Delete(key));
  }

  private void write(Txn.Op op) throws Exception {
    etcd.txn(new Txn(List.of(), List.of(op), List.of()), SOON).get(10, TimeUnit.SECONDS);
  }

  private static int freePort() throws Exception {
    try (ServerSocket probe = new ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }

  private static HttpResponse<String> get(Worker worker, String path) throws Exception {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return client.send(
          HttpRequest.newBuilder(URI.create("http://" + worker.httpAddress() + path))
              .method("GET", HttpRequest.BodyPublishers.ofString(""))
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }
}
