package dev.baton.chaos.environment.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.environment.process.Rules.Way;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** This process is the caller "me"; the member "echo" is a server that returns what it gets. */
class FaultProxyTest {
  private static final Way THERE = new Way("me", "echo");
  private static final Way BACK = new Way("echo", "me");

  private final Rules rules = new Rules();
  private InetSocketAddress target = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private InetSocketAddress front = target;
  private ServerSocket server = newSocket();
  private @Nullable FaultProxy proxy;

  private static ServerSocket newSocket() {
    try {
      return new ServerSocket();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void start() throws IOException {
    serve(0);
    target = new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort());
    front =
        new InetSocketAddress(
            InetAddress.getByAddress(new byte[] {127, 0, 9, 1}), server.getLocalPort());
    proxy =
        new FaultProxy(
            "echo",
            front,
            target,
            new Callers(() -> Map.of(ProcessHandle.current().pid(), "me")),
            rules);
    Awaitility.await().until(this::accepts);
  }

  @AfterEach
  void stop() throws IOException {
    if (proxy != null) {
      proxy.close();
    }
    server.close();
  }

  private void serve(int port) throws IOException {
    server = new ServerSocket();
    server.setReuseAddress(true);
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    ServerSocket open = server;
    Thread.ofVirtual()
        .start(() -> {
          while (!open.isClosed()) {
            try {
              Socket socket = open.accept();
              Thread.ofVirtual().start(() -> echo(socket, open));
            } catch (IOException e) {
              return;
            }
          }
        });
  }

  private static void echo(Socket socket, ServerSocket server) {
    try (socket) {
      for (int read = socket.getInputStream().read();
          read >= 0 && !server.isClosed();
          read = socket.getInputStream().read()) {
        socket.getOutputStream().write(read);
      }
    } catch (IOException e) {
      // The caller has gone.
    }
  }

  private boolean accepts() {
    try (Socket socket = new Socket()) {
      socket.connect(front, 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.connect(front, 1000);
    socket.setSoTimeout(5000);
    return socket;
  }

  private static void send(Socket socket, int what) throws IOException {
    socket.getOutputStream().write(what);
  }

  private static void assertSilent(Socket socket) throws IOException {
    socket.setSoTimeout(300);
    assertThrows(SocketTimeoutException.class, () -> socket.getInputStream().read());
    socket.setSoTimeout(5000);
  }

  @Test
  void shouldPassBytesBothWays() throws IOException {
    try (Socket socket = connect()) {
      send(socket, 7);
      assertEquals(7, socket.getInputStream().read());
    }
  }

  @Test
  void shouldHoldWhatIsSentOnACutWayAndDeliverItAfterwards() throws IOException {
    try (Socket socket = connect()) {
      send(socket, 1);
      assertEquals(1, socket.getInputStream().read());
      for (Way way : new Way[] {THERE, BACK}) {
        rules.set(way, Impairment.CUT);
        send(socket, 2);
        assertSilent(socket);
        rules.clear();
        assertEquals(2, socket.getInputStream().read());
      }
    }
  }

  @Test
  void shouldKnowWhoseConnectionIsCut() throws IOException {
    rules.set(new Way("somebody else", "echo"), Impairment.CUT);
    try (Socket socket = connect()) {
      send(socket, 3);
      assertEquals(3, socket.getInputStream().read());
    }
  }

  @Test
  void shouldAcceptConnectionsOnACutWayThatStaySilent() throws IOException {
    rules.set(THERE, Impairment.CUT);
    try (Socket socket = connect()) {
      send(socket, 4);
      assertSilent(socket);
    }
  }

  @Test
  void shouldDelay() throws IOException {
    rules.set(THERE, Impairment.slow(Duration.ofMillis(200), 0));
    try (Socket socket = connect()) {
      long sent = System.nanoTime();
      send(socket, 5);
      assertEquals(5, socket.getInputStream().read());
      assertTrue(System.nanoTime() - sent >= Duration.ofMillis(200).toNanos());
    }
  }

  @Test
  void shouldRefuseWhileTheMemberDoes() throws IOException {
    try (Socket socket = connect()) {
      send(socket, 6);
      assertEquals(6, socket.getInputStream().read());
      int port = server.getLocalPort();
      server.close();
      send(socket, 6);
      assertTrue(socket.getInputStream().read() <= 6, "the connection ends with the member's");

      Awaitility.await().until(() -> !accepts());
      assertThrows(ConnectException.class, this::connect);

      serve(port);
      Awaitility.await().until(this::accepts);
      assertFalse(server.isClosed());
    }
  }
}
