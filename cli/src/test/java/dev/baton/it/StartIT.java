package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.client.BatonClient;
import dev.baton.proto.v1.RunState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Starts that go wrong, each with its exit code and one sentence; and starts as a service. */
class StartIT {
  @RegisterExtension static final TestCluster CLUSTER = TestCluster.of("start", 1, 1, 0).build();

  @Test
  void givesUpWhenEtcdDoesNotAnswer() {
    String nowhere = "127.0.0.1:" + TestPorts.choose();
    for (TestNode node : newNodes("lonely", "etcd.endpoints=" + nowhere, "etcd.startTimeout=1s")) {
      assertEnds(
          node,
          4,
          "etcd at " + nowhere + " did not answer within 1 s",
          "check that it runs and that etcd.endpoints (--etcd) is right");
      assertTrue(
          node.logText().contains("etcd at " + nowhere + " does not answer"), node.logText());
    }
  }

  @Test
  void namesThePortThatIsInUse() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      assertEnds(
          CLUSTER.newScheduler("grpc-taken", "listen.grpcPort=" + port),
          5,
          "port " + port + " on 127.0.0.1 is in use",
          "set listen.grpcPort to another port");
      for (TestNode node : newNodes("http-taken", "listen.httpPort=" + port)) {
        assertEnds(
            node,
            5,
            "port " + port + " on 127.0.0.1 is in use",
            "set listen.httpPort to another port");
      }
    }
  }

  @Test
  void namesTheSettingThatIsWrong() {
    for (TestNode node : newNodes("unknown", "etcd.endpoint=127.0.0.1:2379")) {
      assertEnds(node, 6, "etcd.endpoint", "is no setting; did you mean etcd.endpoints?");
    }
    assertEnds(CLUSTER.newScheduler("short", "leaderTtl=1s"), 6, "leaderTtl: 2s to 1m is expected");
    assertEnds(CLUSTER.newWorker("none", "slots=0"), 6, "slots: 1 to ");
    assertEnds(
        CLUSTER.newWorker("other", "capabilities=fly"), 6, "capabilities: ", "but got 'fly'");
  }

  /** With what deploy/systemd ships, but for systemd itself. */
  @Test
  void runsBothNodesAsTheirUnitFilesSay() {
    ServiceUnit.Host host = ServiceUnit.Host.install(CLUSTER.folder().resolve("host"));
    String etcd = String.join(",", CLUSTER.etcd().endpoints());
    int grpc = TestPorts.choose();
    TestNode scheduler =
        host.unit("baton-scheduler@.service")
            .node(
                "unit-s",
                grpc,
                TestPorts.choose(),
                Map.of(
                    "BATON_NAMESPACE",
                    "units",
                    "BATON_ETCD_ENDPOINTS",
                    etcd,
                    "BATON_LISTEN_GRPC_PORT",
                    Integer.toString(grpc)));
    TestNode worker =
        host.unit("baton-worker@.service")
            .node(
                "unit-w",
                0,
                TestPorts.choose(),
                Map.of("BATON_NAMESPACE", "units", "BATON_ETCD_ENDPOINTS", etcd));
    try {
      scheduler.start();
      worker.start();
      scheduler.awaitReady();
      worker.awaitReady();
      BatonClient client = CLUSTER.client(scheduler);
      String run = Runs.submit(client, Flow.named("unit").task("e", "echo", Map.of("a", 1)));
      assertEquals(RunState.RUN_SUCCESS, Runs.awaitEnd(client, run).getState());

      worker.terminate();
      assertEquals(0, worker.awaitExit());
      scheduler.terminate();
      assertEquals(0, scheduler.awaitExit());
      for (TestNode node : List.of(scheduler, worker)) {
        assertTrue(
            node.logText().lines().filter(line -> !line.isBlank()).allMatch(l -> l.startsWith("{")),
            node::lastLogLines);
      }
    } finally {
      scheduler.close();
      worker.close();
    }
  }

  private static List<TestNode> newNodes(String id, String... settings) {
    return List.of(
        CLUSTER.newScheduler(id + "-scheduler", settings),
        CLUSTER.newWorker(id + "-worker", settings));
  }

  /** The last line is the sentence; nothing of a stack trace comes with it. */
  private static void assertEnds(TestNode node, int code, String... parts) {
    node.start();
    try {
      assertEquals(code, node.awaitExit(), node::lastLogLines);
    } finally {
      node.close();
    }
    List<String> lines = node.logText().lines().toList();
    String sentence = lines.getLast();
    assertTrue(sentence.startsWith("baton "), sentence);
    for (String part : parts) {
      assertTrue(sentence.contains(part), () -> part + " is not in: " + sentence);
    }
    assertEquals(
        List.of(), lines.stream().filter(line -> line.startsWith("\tat ")).toList(), node.id());
  }
}
