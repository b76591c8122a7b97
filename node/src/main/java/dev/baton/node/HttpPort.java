package dev.baton.node;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP port of a process: {@code /metrics}, {@code /healthz}, {@code /readyz} and whatever else
 * it wants to tell. The one class that knows the HTTP library.
 *
 * <p>GET and HEAD of exact paths, without bodies. Routes are called on one of {@value #THREADS}
 * threads and must not wait for anything.
 */
public final class HttpPort implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HttpPort.class);

  private static final int THREADS = 6;
  private static final int MAX_HEADER_BYTES = 8 << 10;
  private static final int MAX_CONNECTIONS = 256;
  private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(10);

  private final Server server;
  private final HostPort address;

  private HttpPort(Server server, HostPort address) {
    this.server = server;
    this.address = address;
  }

  /**
   * The routes of a node.
   *
   * @param healthy false: the process must be started again
   * @param ready false: it must not be asked now
   */
  public static Map<String, Supplier<Reply>> routes(
      Metrics metrics, Supplier<Health> healthy, Supplier<Health> ready) {
    return Map.of(
        "/metrics", metrics::scrape,
        "/healthz", () -> healthy.get().reply(),
        "/readyz", () -> ready.get().reply());
  }

  /**
   * Opens the port, or throws an {@link ExitException} that says why it can't.
   *
   * @param setting the setting that names the port, for that sentence
   * @param routes what to answer, by path
   */
  public static HttpPort open(
      HostPort wanted, String setting, Map<String, Supplier<Reply>> routes) {
    QueuedThreadPool threads = new QueuedThreadPool(THREADS, 1);
    threads.setName("http");
    threads.setDaemon(true);
    Server server = new Server(threads);
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setRequestHeaderSize(MAX_HEADER_BYTES);
    ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
    connector.setHost(wanted.host());
    connector.setPort(wanted.port());
    connector.setIdleTimeout(IDLE_TIMEOUT.toMillis());
    server.addConnector(connector);
    server.addBean(new NetworkConnectionLimit(MAX_CONNECTIONS, connector));
    server.setHandler(new Routes(routes));
    server.setErrorHandler(new JsonErrors());
    server.setStopTimeout(0);
    try {
      server.start();
    } catch (Exception e) {
      stop(server);
      throw ExitException.cannotListen(wanted, setting, e);
    }
    return new HttpPort(server, new HostPort(wanted.host(), connector.getLocalPort()));
  }

  /** The address that is bound: its port is never 0. */
  public HostPort address() {
    return address;
  }

  @Override
  public void close() {
    stop(server);
  }

  private static void stop(Server server) {
    try {
      server.stop();
    } catch (Exception e) {
      log.warn("the HTTP port did not close cleanly", e);
    }
  }

  private static void write(Response response, Reply reply, Callback callback) {
    byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
    response.setStatus(reply.status());
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, reply.contentType());
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
    response.getHeaders().put("X-Content-Type-Options", "nosniff");
    response.write(true, ByteBuffer.wrap(body), callback);
  }

  private static final class Routes extends Handler.Abstract.NonBlocking {
    private final Map<String, Supplier<Reply>> routes;

    private Routes(Map<String, Supplier<Reply>> routes) {
      this.routes = Map.copyOf(routes);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
      write(response, reply(request, response), callback);
      return true;
    }

    private Reply reply(Request request, Response response) {
      String path = Request.getPathInContext(request);
      Supplier<Reply> route = routes.get(path);
      if (route == null) {
        return Reply.error(
            404,
            "no such path: this port serves " + String.join(", ", new TreeSet<>(routes.keySet())));
      }
      if (!HttpMethod.GET.is(request.getMethod()) && !HttpMethod.HEAD.is(request.getMethod())) {
        response.getHeaders().put(HttpHeader.ALLOW, "GET, HEAD");
        return Reply.error(405, "%s is read with GET".formatted(path));
      }
      if (request.getLength() > 0 || request.getHeaders().contains(HttpHeader.TRANSFER_ENCODING)) {
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
        return Reply.error(413, "a request has no body here");
      }
      try {
        return route.get();
      } catch (RuntimeException e) {
        log.error("the answer for {} failed", path, e);
        return Reply.error(500, "a fault of this process; its log says more");
      }
    }
  }

  /** What the library refuses by itself, such as headers that are too long. */
  private static final class JsonErrors implements Request.Handler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
      int status = response.getStatus();
      Object message = request.getAttribute(ErrorHandler.ERROR_MESSAGE);
      write(
          response,
          Reply.error(status, message == null ? "refused" : String.valueOf(message)),
          callback);
      return true;
    }
  }
}
