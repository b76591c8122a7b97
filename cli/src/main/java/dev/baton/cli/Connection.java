package dev.baton.cli;

import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.client.ClientOptions;
import dev.baton.client.Endpoint;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of every command that talks to a cluster, and the way to it. */
final class Connection {
  private static final String DEFAULT_ENDPOINT = "127.0.0.1:7400";
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(5);

  @Option(
      names = "--endpoints",
      paramLabel = "HOST:PORT,...",
      description =
          "scheduler nodes; one live address is enough (else BATON_ENDPOINTS, else the cluster"
              + " that 'baton up' started here, else "
              + DEFAULT_ENDPOINT
              + ")")
  private @Nullable String endpoints;

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      description = "name of the local cluster (else BATON_CLUSTER, else 'default')")
  private @Nullable String cluster;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "30s",
      description = "time for each call with all its repetitions (default 30s)")
  private Duration timeout = ClientOptions.DEFAULT_CALL_TIMEOUT;

  BatonClient open(Context context) {
    try {
      return new BatonClient(
          ClientOptions.of(find(context))
              .withCallTimeout(timeout)
              .withConnectPatience(CONNECT_PATIENCE));
    } catch (IllegalArgumentException e) {
      throw new ExitException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private List<Endpoint> find(Context context) {
    if (endpoints != null) {
      return Endpoint.parseList(endpoints);
    }
    String fromEnvironment = context.environment().getOrDefault("BATON_ENDPOINTS", "");
    if (!fromEnvironment.isBlank()) {
      return Endpoint.parseList(fromEnvironment);
    }
    List<String> recorded =
        ClusterFolder.of(context.environment(), context.directory(), cluster).endpoints();
    if (cluster != null && recorded.isEmpty()) {
      throw new ExitException(
          ExitCode.USAGE,
          "there is no local cluster '"
              + cluster
              + "' here: 'baton up --cluster "
              + cluster
              + "' starts one");
    }
    return recorded.isEmpty()
        ? List.of(Endpoint.parse(DEFAULT_ENDPOINT))
        : recorded.stream().map(Endpoint::parse).toList();
  }
}
