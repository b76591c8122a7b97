package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.CommandGroup;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.Worker;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What an operator does with a worker; 'baton worker' alone starts one, and is no part of this. */
@Command(
    name = "worker",
    header = "Take a worker out of service, or back; alone: start one.",
    synopsisSubcommandLabel = "(drain | cordon | uncordon)",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton worker drain w1        it finishes what it runs, and ends",
      "  baton worker cordon w1       it gets nothing new, and stays",
      "  baton worker uncordon w1     it is in service again",
      "  baton worker --config FILE   starts one: 'baton worker --help' tells more"
    })
final class WorkerCommand extends CommandGroup {
  private final Context context;

  WorkerCommand(Context context) {
    this.context = context;
  }

  @Command(
      name = "cordon",
      header = "Give a worker nothing new.",
      description =
          "It goes on with what it runs, and stays registered. It stays cordoned through fail-overs and"
              + " restarts, until 'baton worker uncordon'. Harmless when repeated.",
      sortOptions = false,
      footerHeading = "%nExamples:%n",
      footer = {"  baton worker cordon w1"})
  int cordon(
      @Parameters(paramLabel = "WORKER", description = "id of the worker") String id,
      @Mixin Connection connection,
      @Mixin Common common) {
    try (BatonClient client = connection.open(context)) {
      long seq =
          client
              .cordon(
                  CordonWorkerRequest.newBuilder().setWorkerId(id).setActor(actor(context)).build())
              .getSeq();
      return print(
          common,
          id,
          seq,
          "Worker " + id + " gets nothing new until 'baton worker uncordon " + id + "'");
    }
  }

  @Command(
      name = "uncordon",
      header = "Take a worker into service again.",
      description = "A process of it that drains goes on to its end. Harmless when repeated.",
      sortOptions = false,
      footerHeading = "%nExamples:%n",
      footer = {"  baton worker uncordon w1"})
  int uncordon(
      @Parameters(paramLabel = "WORKER", description = "id of the worker") String id,
      @Mixin Connection connection,
      @Mixin Common common) {
    try (BatonClient client = connection.open(context)) {
      long seq =
          client.uncordon(UncordonWorkerRequest.newBuilder().setWorkerId(id).build()).getSeq();
      return print(common, id, seq, "Worker " + id + " is in service");
    }
  }

  private int print(Common common, String id, long seq, String sentence) {
    ObjectNode json = Json.object();
    json.put("workerId", id);
    json.put("seq", seq);
    if (!common.printed(context, json)) {
      context.terminal().println(sentence);
    }
    return ExitCode.OK.number();
  }

  static String actor(Context context) {
    return context.environment().getOrDefault("USER", "");
  }

  /** The worker as it is now. */
  static Worker find(BatonClient client, String id) {
    return client.listWorkers().getWorkersList().stream()
        .filter(worker -> worker.getWorkerId().equals(id))
        .findFirst()
        .orElseThrow(() ->
            new ExitException(
                ExitCode.REFUSED,
                "no worker '" + id + "' is registered or cordoned: 'baton workers' lists them"));
  }
}
