package dev.baton.it;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Free ports, below those that Linux gives to outgoing connections: a node finds its own again. */
final class TestPorts {
  private static final int FIRST = 10_000;
  private static final int END = 32_000;

  private TestPorts() {}

  static int choose() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      try (ServerSocket probe = new ServerSocket()) {
        probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return port;
      } catch (IOException e) {
        // Taken: try another.
      }
    }
  }
}
