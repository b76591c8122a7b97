package dev.baton.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What is above all commands. */
@Command(
    name = "baton",
    description = "Runs workflows on workers, and keeps running them when a scheduler dies.",
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    exitCodeListHeading = "%nExit codes:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton up                                     three schedulers, two workers, here",
      "  baton submit examples/diamond.yaml --wait    run a workflow and follow it",
      "  baton kill-leader                            see it go on",
      "  baton COMMAND --help                         more examples",
      "",
      "'baton scheduler --help' and 'baton worker --help' tell how to start nodes by hand."
    })
final class BatonCommand implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @SuppressWarnings("UnusedVariable") // picocli sets and reads it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this, and end")
  private boolean help;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Expected a command");
  }
}
