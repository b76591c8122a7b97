package dev.baton.chaos;

import dev.baton.cli.program.CommandGroup;
import picocli.CommandLine.Command;

/** What is above the chaos commands. */
@Command(
    name = "baton chaos",
    description =
        "Hurts a fresh cluster of real processes under load, and judges what came of it: nothing lost, nothing done twice, nobody writes who does not lead.",
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton chaos list                            what there is",
      "  baton chaos run smoke                       two minutes",
      "  baton chaos run kill-leader --rounds 10     then open the report it names",
      "  baton chaos judge .baton/chaos/FOLDER       judge a recorded history again"
    })
final class ChaosCommand extends CommandGroup {}
