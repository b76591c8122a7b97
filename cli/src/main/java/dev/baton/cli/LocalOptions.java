package dev.baton.cli;

import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.program.Context;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which local cluster a command means. */
final class LocalOptions {
  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      description = "name of the cluster (else BATON_CLUSTER, else 'default')")
  private @Nullable String cluster;

  ClusterFolder folder(Context context) {
    return ClusterFolder.of(context.environment(), context.directory(), cluster);
  }
}
