package dev.baton.cli;

import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.ClusterStatus;
import dev.baton.cli.cluster.EtcdProgram;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.cluster.LocalCluster.Size;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.node.ExitCode;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Starts the local cluster, or what is missing of it. */
@Command(
    name = "up",
    header = "Start a cluster on this machine, or what is missing of it.",
    description =
        "Starts etcd, schedulers and workers as processes of their own on free ports of 127.0.0.1. Data, settings and logs stand in .baton/NAME (BATON_DIR replaces .baton). On a cluster that runs, only what is missing is started.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton up                          three schedulers, two workers, etcd of three members",
      "  baton up --schedulers 5           adds two to them",
      "  baton up --cluster try --etcd 1 --schedulers 1 --workers 1",
      "  baton down                        stops it and keeps its data; 'baton up' goes on"
    })
final class UpCommand implements Callable<Integer> {
  private final Context context;

  @Option(
      names = "--schedulers",
      paramLabel = "N",
      description = "scheduler nodes, one of which leads (default 3)")
  private @Nullable Integer schedulers;

  @Option(names = "--workers", paramLabel = "N", description = "workers (default 2)")
  private @Nullable Integer workers;

  @Option(names = "--etcd", paramLabel = "N", description = "members of etcd (default 3)")
  private @Nullable Integer etcd;

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "16",
      description = "tasks that a new worker runs at a time (default 16)")
  private int slots;

  @Mixin private final LocalOptions local = new LocalOptions();
  @Mixin private final Common common = new Common();

  UpCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    Size size = new Size(schedulers, workers, etcd, slots, false);
    ClusterFolder folder = local.folder(context);
    EtcdProgram.ensure(context.environment(), context.terminal()::remark);
    new LocalCluster(folder, context.directory(), context.environment(), context.terminal()::remark)
        .up(size);
    ClusterStatus status = ClusterStatus.of(folder);
    if (!common.printed(context, StatusCommand.json(status))) {
      StatusCommand.print(context.terminal(), status);
      Terminal terminal = context.terminal();
      terminal.println("");
      terminal.println("Try:  baton submit FILE --wait     run a workflow (examples/ has some)");
      terminal.println("      baton kill-leader            see it go on");
      terminal.println("      baton down                   stop everything; the data stays");
    }
    return ExitCode.OK.number();
  }
}
