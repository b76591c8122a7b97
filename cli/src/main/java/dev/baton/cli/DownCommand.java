package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.Daemon;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Stops the local cluster. */
@Command(
    name = "down",
    header = "Stop the local cluster; its data stays.",
    description =
        "Workers end first and drain, then schedulers, then etcd. 'baton up' goes on with the data.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton down",
      "  baton down --grace 60s      leave workers a minute to end their tasks",
      "  baton down --purge          delete data, settings and logs, too"
    })
final class DownCommand implements Callable<Integer> {
  private final Context context;

  @Option(names = "--purge", description = "delete the cluster's folder with all data")
  private boolean purge;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      defaultValue = "10s",
      description = "how long a process may take to end before it is killed (default 10s)")
  private Duration grace = Duration.ofSeconds(10);

  @Mixin private final LocalOptions local = new LocalOptions();
  @Mixin private final Common common = new Common();

  DownCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    ClusterFolder folder = local.folder(context);
    boolean known = folder.load().isPresent();
    List<Daemon> stopped =
        new LocalCluster(
                folder, context.directory(), context.environment(), context.terminal()::remark)
            .down(grace, purge);
    ObjectNode json = Json.object();
    json.put("cluster", folder.cluster());
    ArrayNode names = json.putArray("stopped");
    stopped.forEach(process -> names.add(process.name()));
    json.put("purged", purge);
    if (!common.printed(context, json)) {
      String what =
          stopped.isEmpty()
              ? "Nothing was running"
              : "Stopped " + stopped.stream().map(Daemon::name).collect(Collectors.joining(", "));
      String data =
          purge
              ? "; " + folder.path() + " is deleted"
              : known
                  ? "; the data stays in " + folder.path()
                  : "; there is no cluster '" + folder.cluster() + "' in " + folder.path();
      context.terminal().println(what + data);
    }
    return ExitCode.OK.number();
  }
}
