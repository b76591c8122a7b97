package dev.baton.cli.cluster;

import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Chooses ports of 127.0.0.1, below those that Linux gives to outgoing connections: so nobody takes
 * a node's port while the node is down.
 */
final class Ports {
  private static final int FIRST = 10_000;
  private static final int END = 32_000;
  private static final int TRIES = 1000;

  private final Set<Integer> chosen = new HashSet<>();

  /** A port that is free now and was not chosen here before. */
  int choose() {
    for (int i = 0; i < TRIES; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      if (isFree(port) && chosen.add(port)) {
        return port;
      }
    }
    throw new ExitException(
        ExitCode.PORT_IN_USE, "no free port was found between " + FIRST + " and " + END);
  }

  /** This port if there is one and it is free, else another one. */
  int keep(int port) {
    return port != 0 && isFree(port) && chosen.add(port) ? port : choose();
  }

  static boolean isFree(int port) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
