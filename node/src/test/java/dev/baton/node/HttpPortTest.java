package dev.baton.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpPortTest {
  private static final HostPort ANY = new HostPort("127.0.0.1", 0);

  private final AtomicBoolean ready = new AtomicBoolean();
  private final Metrics metrics = new Metrics();
  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private HttpPort port = open();

  private HttpPort open() {
    Map<String, Supplier<Reply>> routes =
        new HashMap<>(
            HttpPort.routes(
                metrics,
                () -> new Health(true, Map.of()),
                () -> new Health(ready.get(), Map.of("role", "standby", "term", 7))));
    routes.put(
        "/broken",
        () -> {
          throw new IllegalStateException("broken on purpose");
        });
    return HttpPort.open(ANY, "listen.httpPort", routes);
  }

  @BeforeEach
  void countSomething() {
    metrics.registry().counter("baton.test.things", "kind", "red").increment(3);
  }

  @AfterEach
  void close() {
    client.close();
    port.close();
    metrics.close();
  }

  @Test
  void shouldServeMetricsForPrometheus() throws Exception {
    HttpResponse<String> reply = send("GET", "/metrics", "");

    assertEquals(200, reply.statusCode());
    assertTrue(reply.headers().firstValue("Content-Type").orElse("").startsWith("text/plain"));
    assertTrue(reply.body().contains("baton_test_things_total{kind=\"red\"} 3.0"));
    assertTrue(reply.body().contains("jvm_memory_used_bytes{"));
    assertTrue(reply.body().contains("jvm_threads_live_threads "));
    assertTrue(reply.body().contains("process_cpu_usage "));
    assertTrue(reply.headers().firstValue("Server").isEmpty());
  }

  @Test
  void shouldSayWhetherItIsReadyAndWhy() throws Exception {
    HttpResponse<String> before = send("GET", "/readyz", "");
    ready.set(true);
    HttpResponse<String> after = send("GET", "/readyz", "");

    assertEquals(503, before.statusCode());
    assertEquals("{\"ok\":false,\"role\":\"standby\",\"term\":7}", before.body());
    assertEquals(200, after.statusCode());
    assertEquals(200, send("GET", "/healthz", "").statusCode());
  }

  @Test
  void shouldAnswerHeadWithoutABody() throws Exception {
    HttpResponse<String> reply = send("HEAD", "/healthz", "");

    assertEquals(200, reply.statusCode());
    assertEquals("", reply.body());
  }

  @Test
  void shouldRefuseInJson() throws Exception {
    HttpResponse<String> unknown = send("GET", "/nowhere?x=1", "");
    HttpResponse<String> post = send("POST", "/metrics", "");
    HttpResponse<String> body = send("GET", "/healthz", "hello");
    HttpResponse<String> broken = send("GET", "/broken", "");
    HttpResponse<String> long1 = send("GET", "/metrics?" + "x".repeat(9_000), "");

    assertEquals(404, unknown.statusCode());
    assertTrue(error(unknown).contains("/broken, /healthz, /metrics, /readyz"));
    assertEquals(405, post.statusCode());
    assertEquals("GET, HEAD", post.headers().firstValue("Allow").orElse(""));
    assertEquals("/metrics is read with GET", error(post));
    assertEquals(413, body.statusCode());
    assertEquals("a request has no body here", error(body));
    assertEquals(500, broken.statusCode());
    assertEquals("a fault of this process; its log says more", error(broken));
    assertTrue(long1.statusCode() == 414 || long1.statusCode() == 431);
    assertTrue(!error(long1).isEmpty());
  }

  @Test
  void shouldSurviveWhatIsNotHttp() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port.address().port())) {
      socket.setSoTimeout(5_000);
      socket.getOutputStream().write("\u0001garbage\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(answer.startsWith("HTTP/1.1 400 "), answer);
    }
    assertEquals(200, send("GET", "/healthz", "").statusCode());
  }

  @Test
  void shouldNameThePortThatIsInUse() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      HostPort address = new HostPort("127.0.0.1", taken.getLocalPort());
      ExitException refused =
          assertThrows(
              ExitException.class, () -> HttpPort.open(address, "listen.httpPort", Map.of()));

      assertEquals(ExitCode.PORT_IN_USE, refused.code());
      assertEquals(
          "port %d on 127.0.0.1 is in use: end the process that holds it, or set listen.httpPort to another port (0 takes any free one)"
              .formatted(address.port()),
          refused.sentence());
    }
  }

  @Test
  void shouldSayThatAnAddressIsNotOurs() {
    ExitException refused =
        assertThrows(
            ExitException.class,
            () -> HttpPort.open(new HostPort("192.0.2.1", 0), "listen.httpPort", Map.of()));
    assertEquals(
        "192.0.2.1 is no address of this machine: set listen.insecureBind to one that is",
        refused.sentence());
  }

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + port.address() + path))
            .timeout(Duration.ofSeconds(10))
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  private static String error(HttpResponse<String> reply) throws IOException {
    JsonNode body = new ObjectMapper().readTree(reply.body());
    assertEquals("application/json", reply.headers().firstValue("Content-Type").orElse(""));
    return body.get("error").textValue();
  }
}
