package dev.baton.cli;

import dev.baton.cli.program.CommandGroup;
import picocli.CommandLine.Command;

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
final class BatonCommand extends CommandGroup {}
