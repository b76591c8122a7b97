package dev.baton.coordination.jetcd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Keys;
import dev.baton.coordination.server.EtcdCluster;
import dev.baton.coordination.server.EtcdServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users and TLS, on real members that ask for them. */
class SecurityTest {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final Keys keys = new Keys("secure");
  @TempDir private Path directory;

  @Test
  void shouldShowATokenAndGetANewOneWhenItHasExpired() {
    try (EtcdCluster cluster =
            EtcdCluster.start(directory, 1, "--auth-token-ttl", "1", "--auth-token", "simple");
        EtcdAdmin admin = new EtcdAdmin(cluster.endpoints().getFirst())) {
      admin.enableAuthentication("baton", "secret", keys.prefix());
      try (Etcd known = client(cluster, "baton", "secret");
          Etcd wrong = client(cluster, "baton", "wrong");
          Etcd nobody = JetcdEtcd.create(EtcdConfig.of(cluster.endpoints()), "nobody")) {
        assertNull(await(known.get(keys.head(), DEADLINE)).keyValue());
        assertEquals(
            Kind.PERMISSION, failure(known.get(ByteString.copyFromUtf8("/other/"), DEADLINE)));
        assertEquals(Kind.PERMISSION, failure(wrong.get(keys.head(), DEADLINE)));
        assertEquals(Kind.PERMISSION, failure(nobody.get(keys.head(), DEADLINE)));
        await(known.renew(await(known.grant(DEADLINE, DEADLINE)).id(), DEADLINE));
        // A member that was started again has forgotten all tokens.
        cluster.kill(0);
        cluster.start(0);
        cluster.awaitHealthy(Duration.ofSeconds(20));
        Awaitility.await("an answer with a new token")
            .atMost(DEADLINE)
            .until(() -> known.get(keys.head(), DEADLINE).handle((a, f) -> f == null).join());
      }
    }
  }

  @Test
  void shouldTalkTls() throws Exception {
    Path key = directory.resolve("key.pem");
    Path certificate = directory.resolve("cert.pem");
    run(
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1,DNS:localhost",
        "-addext",
        "basicConstraints=critical,CA:TRUE",
        "-keyout",
        key.toString(),
        "-out",
        certificate.toString());
    int port = freePort();
    String client = "https://127.0.0.1:" + port;
    String peer = "http://127.0.0.1:" + freePort();
    Process server =
        new ProcessBuilder(
                EtcdServer.find().toString(),
                "--name",
                "t",
                "--data-dir",
                directory.resolve("data").toString(),
                "--listen-client-urls",
                client,
                "--advertise-client-urls",
                client,
                "--listen-peer-urls",
                peer,
                "--initial-advertise-peer-urls",
                peer,
                "--initial-cluster",
                "t=" + peer,
                "--cert-file",
                certificate.toString(),
                "--key-file",
                key.toString(),
                "--client-cert-auth",
                "--trusted-ca-file",
                certificate.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile())
            .start();
    EtcdConfig.Tls all = new EtcdConfig.Tls(certificate, certificate, key);
    EtcdConfig.Tls without = new EtcdConfig.Tls(certificate, null, null);
    try (Etcd known = JetcdEtcd.create(new EtcdConfig(List.of(client), null, null, all), "tls");
        Etcd nobody =
            JetcdEtcd.create(new EtcdConfig(List.of(client), null, null, without), "nobody")) {
      Awaitility.await("an answer over TLS")
          .atMost(Duration.ofSeconds(20))
          .until(() ->
              known.get(keys.head(), Duration.ofSeconds(1)).handle((a, f) -> f == null).join());
      assertTrue(
          List.of(Kind.UNAVAILABLE, Kind.UNKNOWN_OUTCOME)
              .contains(failure(nobody.get(keys.head(), DEADLINE))));
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void shouldNameATlsFileThatIsNotThere() {
    EtcdConfig.Tls tls = new EtcdConfig.Tls(directory.resolve("missing.pem"), null, null);
    RuntimeException refusal =
        assertThrows(
            RuntimeException.class,
            () -> JetcdEtcd.create(new EtcdConfig(List.of("a:1"), null, null, tls), "tls"));
    assertTrue(String.valueOf(refusal.getMessage()).contains("missing.pem"));
  }

  private static Etcd client(EtcdCluster cluster, String user, String password) {
    return JetcdEtcd.create(new EtcdConfig(cluster.endpoints(), user, password, null), user);
  }

  private static <T> T await(CompletableFuture<T> call) {
    return call.orTimeout(10, TimeUnit.SECONDS).join();
  }

  private static Kind failure(CompletableFuture<?> call) {
    EtcdException failure =
        await(call.handle((answer, thrown) -> thrown == null ? null : EtcdException.of(thrown)));
    if (failure == null) {
      throw new AssertionError("Expected a failure, but the call succeeded.");
    }
    return failure.kind();
  }

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0)) {
      return probe.getLocalPort();
    }
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
  }
}
