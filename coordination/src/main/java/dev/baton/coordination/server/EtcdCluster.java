package dev.baton.coordination.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * An etcd cluster of child processes on loopback, with default fsync.
 *
 * <p>A directory holds its data, its logs ({@code etcd-0.log}, ...) and its ports: a cluster that
 * is started on the directory of an earlier one goes on with that one's data.
 */
public final class EtcdCluster implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(50);
  // Below the ports that Linux gives to outgoing connections: nobody takes one while its member is
  // down.
  private static final int FIRST_PORT = 10_000;
  private static final int END_PORT = 32_000;
  private static final int PORT_TRIES = 1000;

  private final List<EtcdServer> servers;

  /**
   * What to start.
   *
   * @param directory for data, logs and ports
   * @param binary null: the {@code etcd} on the PATH
   * @param flags added to each member's command line
   * @param startBound how long it may take until all members are healthy
   */
  public record Options(
      Path directory, int members, @Nullable Path binary, List<String> flags, Duration startBound) {
    public Options {
      if (members < 1 || members > 7) {
        throw new IllegalArgumentException(
            "Expected 1 to 7 members of etcd, but got " + members + ".");
      }
      flags = List.copyOf(flags);
    }
  }

  private EtcdCluster(List<EtcdServer> servers) {
    this.servers = List.copyOf(servers);
  }

  /** Starts a cluster and waits until it is healthy; 30 s at most. */
  public static EtcdCluster start(Path directory, int members, String... flags) {
    return start(new Options(directory, members, null, List.of(flags), Duration.ofSeconds(30)));
  }

  /** Starts a cluster and waits until it is healthy; if that fails, nothing is left running. */
  public static EtcdCluster start(Options options) {
    EtcdCluster cluster = new EtcdCluster(plan(options));
    try {
      cluster.servers.forEach(EtcdServer::start);
      cluster.awaitHealthy(options.startBound());
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
    return cluster;
  }

  /**
   * The members that a start would start, with their ports and command lines, none of them running:
   * for a caller that starts them in another way.
   */
  public static List<EtcdServer> plan(Options options) {
    Path binary = options.binary() == null ? EtcdServer.find() : options.binary();
    Path directory = options.directory().toAbsolutePath();
    try {
      Files.createDirectories(directory);
      List<Integer> ports = ports(directory.resolve("ports"), 2 * options.members());
      return IntStream.range(0, options.members())
          .mapToObj(i -> member(binary, directory, ports, i, options.flags()))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "The directory " + directory + " for etcd can't be used: " + e.getMessage(), e);
    }
  }

  public int size() {
    return servers.size();
  }

  /** {@code host:port} of each member. */
  public List<String> endpoints() {
    return servers.stream().map(EtcdServer::endpoint).toList();
  }

  public EtcdServer member(int index) {
    return servers.get(index);
  }

  public void kill(int index) {
    member(index).kill();
  }

  public void stop(int index) {
    member(index).stop();
  }

  public void start(int index) {
    member(index).start();
  }

  public long pid(int index) {
    return member(index).pid();
  }

  /** Waits until every running member says that it is healthy. */
  public void awaitHealthy(Duration bound) {
    long end = System.nanoTime() + bound.toNanos();
    for (EtcdServer server : servers) {
      while (server.hasDied() || (server.isRunning() && !server.isHealthy())) {
        if (server.hasDied()) {
          throw new IllegalStateException(
              "Expected " + server + " to start, but it ended:\n" + server.lastLogLines());
        }
        if (System.nanoTime() - end > 0) {
          throw new IllegalStateException(
              "Expected "
                  + server
                  + " to be healthy within "
                  + bound.toSeconds()
                  + " s, but it is not; the end of "
                  + server.log()
                  + ":\n"
                  + server.lastLogLines());
        }
        server.pollWithin(POLL);
      }
    }
  }

  /** SIGKILL to every member, stopped ones as well. */
  @Override
  public void close() {
    servers.forEach(EtcdServer::kill);
  }

  private static EtcdServer member(
      Path binary, Path directory, List<Integer> ports, int index, List<String> flags) {
    List<Seat> seats =
        IntStream.range(0, ports.size() / 2)
            .mapToObj(i -> new Seat("127.0.0.1", ports.get(2 * i), ports.get(2 * i + 1)))
            .toList();
    String name = name(index);
    return new EtcdServer(
        name,
        seats.get(index).clientPort(),
        command(binary, directory, seats, index, flags),
        directory.resolve(name + ".log"));
  }

  /** Where a member listens, for clients and for the other members. */
  public record Seat(String host, int clientPort, int peerPort) {
    private String client() {
      return "http://" + host + ":" + clientPort;
    }

    private String peer() {
      return "http://" + host + ":" + peerPort;
    }
  }

  /**
   * Program and arguments of one member, for a caller that places the members itself.
   *
   * @param directory of the data of all members, which have a folder each, by their names
   * @param seats of all members; the one with index i is named {@code etcd-i}
   * @param flags added at the end
   */
  public static List<String> command(
      Path binary, Path directory, List<Seat> seats, int index, List<String> flags) {
    String name = name(index);
    String client = seats.get(index).client();
    String peer = seats.get(index).peer();
    String all =
        IntStream.range(0, seats.size())
            .mapToObj(i -> name(i) + "=" + seats.get(i).peer())
            .collect(Collectors.joining(","));
    List<String> command = new ArrayList<>();
    command.add(binary.toString());
    command.addAll(List.of("--name", name));
    command.addAll(List.of("--data-dir", directory.resolve(name).toString()));
    command.addAll(List.of("--listen-client-urls", client, "--advertise-client-urls", client));
    command.addAll(List.of("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer));
    command.addAll(List.of("--initial-cluster", all, "--initial-cluster-state", "new"));
    command.addAll(List.of("--heartbeat-interval", "100", "--election-timeout", "1000"));
    // A member that comes back asks before it forces an election.
    command.add("--pre-vote");
    command.addAll(flags);
    return List.copyOf(command);
  }

  private static String name(int index) {
    return "etcd-" + index;
  }

  /** The ports of an earlier start in this directory, or free ones. */
  private static List<Integer> ports(Path file, int count) throws IOException {
    if (Files.exists(file)) {
      List<Integer> kept = Files.readAllLines(file).stream().map(Integer::valueOf).toList();
      if (kept.size() != count) {
        throw new IllegalStateException(
            "Expected "
                + kept.size() / 2
                + " members as before in "
                + file.getParent()
                + ", but "
                + count / 2
                + " were asked for.");
      }
      return kept;
    }
    Set<Integer> free = new LinkedHashSet<>();
    for (int i = 0; free.size() < count; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, END_PORT);
      if (isFree(port)) {
        free.add(port);
      } else if (i > PORT_TRIES) {
        throw new IllegalStateException("No free port for etcd was found on 127.0.0.1.");
      }
    }
    Files.write(file, free.stream().map(String::valueOf).toList());
    return List.copyOf(free);
  }

  private static boolean isFree(int port) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
