package dev.baton.client;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import java.time.Duration;
import java.util.List;

/**
 * How a client behaves.
 *
 * @param endpoints where to begin; one live address is enough, the others are learned from it
 * @param callTimeout time for a call with all its repetitions
 * @param connectPatience when to give up if no node ever answered this client; a fail-over never
 *     looks like that
 * @param watchPatience how long a watch looks for a node that answers before it gives up
 * @param credentials plain text unless given
 */
public record ClientOptions(
    List<Endpoint> endpoints,
    Duration callTimeout,
    Duration connectPatience,
    Duration watchPatience,
    ChannelCredentials credentials) {
  public static final Duration DEFAULT_CALL_TIMEOUT = Duration.ofSeconds(30);
  public static final Duration DEFAULT_WATCH_PATIENCE = Duration.ofMinutes(10);

  public ClientOptions {
    endpoints = List.copyOf(endpoints);
    if (endpoints.isEmpty()) {
      throw new IllegalArgumentException("Expected at least one endpoint, but got none.");
    }
    if (callTimeout.isNegative() || callTimeout.isZero()) {
      throw new IllegalArgumentException(
          "Expected a call timeout above zero, but got " + callTimeout + ".");
    }
  }

  public static ClientOptions of(List<Endpoint> endpoints) {
    return new ClientOptions(
        endpoints,
        DEFAULT_CALL_TIMEOUT,
        DEFAULT_CALL_TIMEOUT,
        DEFAULT_WATCH_PATIENCE,
        InsecureChannelCredentials.create());
  }

  public ClientOptions withCallTimeout(Duration timeout) {
    return new ClientOptions(endpoints, timeout, connectPatience, watchPatience, credentials);
  }

  public ClientOptions withConnectPatience(Duration patience) {
    return new ClientOptions(endpoints, callTimeout, patience, watchPatience, credentials);
  }

  public ClientOptions withWatchPatience(Duration patience) {
    return new ClientOptions(endpoints, callTimeout, connectPatience, patience, credentials);
  }
}
