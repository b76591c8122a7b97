package dev.baton.node;

import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a node listens. There is no authentication yet, so it is the loopback address unless
 * somebody takes the risk by name: no other setting can open a port to a network.
 *
 * @param grpcPort port for schedulers, workers and users; 0 takes any free one
 * @param httpPort port for metrics and health; 0 takes any free one
 * @param insecureBind the address to bind in place of loopback; whoever reaches it can do
 *     everything
 * @param advertise host under which others reach this node; default: the one it binds
 */
public record ListenSettings(
    @Default("0") int grpcPort,
    @Default("0") int httpPort,
    @Flag(
            value = "--insecure-bind",
            help = "listen on this address instead of 127.0.0.1, without authentication")
        @Nullable String insecureBind,
    @Nullable String advertise) {
  private static final String LOOPBACK = "127.0.0.1";
  private static final Set<String> ALL_ADDRESSES = Set.of("0.0.0.0", "::", "0:0:0:0:0:0:0:0");

  public ListenSettings {
    HostPort.requirePort(grpcPort);
    HostPort.requirePort(httpPort);
    if (grpcPort != 0 && grpcPort == httpPort) {
      throw new IllegalArgumentException(
          "grpcPort and httpPort are both " + grpcPort + ": each needs its own");
    }
    if (insecureBind == null && advertise != null && !isLoopback(advertise)) {
      throw new IllegalArgumentException(
          "advertise is '%s', but only 127.0.0.1 is bound: without authentication another address needs insecureBind (--insecure-bind)"
              .formatted(advertise));
    }
    if (insecureBind != null && ALL_ADDRESSES.contains(insecureBind) && advertise == null) {
      throw new IllegalArgumentException(
          "insecureBind '%s' is every address of this machine: set advertise to the one that others can reach"
              .formatted(insecureBind));
    }
  }

  public HostPort grpc() {
    return new HostPort(host(), grpcPort);
  }

  public HostPort http() {
    return new HostPort(host(), httpPort);
  }

  /** The host to bind. */
  public String host() {
    return insecureBind == null ? LOOPBACK : insecureBind;
  }

  /** The address to tell others, for a port that was bound. */
  public HostPort advertised(int boundPort) {
    return new HostPort(advertise == null ? host() : advertise, boundPort);
  }

  /** Whether others than this machine can reach the ports. */
  public boolean open() {
    return !isLoopback(host());
  }

  /** What to log at start, if there is something to be warned of. */
  public Optional<String> warning() {
    return open()
        ? Optional.of(
            "listening on %s without authentication: whoever reaches it can run and cancel everything"
                .formatted(host()))
        : Optional.empty();
  }

  private static boolean isLoopback(String host) {
    return host.equals("localhost") || host.equals("::1") || host.matches("127(\\.\\d{1,3}){3}");
  }
}
