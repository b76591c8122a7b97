package dev.baton.cli;

import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.Worker;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
final class WorkerCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @SuppressWarnings("UnusedVariable") // picocli sets and reads it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this, and end")
  private boolean help;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Expected drain, cordon or uncordon");
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
