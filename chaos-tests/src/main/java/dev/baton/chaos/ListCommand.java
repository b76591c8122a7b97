package dev.baton.chaos;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.chaos.scenario.Scenario;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists the scenarios. */
@Command(
    name = "list",
    header = "List the scenarios.",
    footerHeading = "%nExamples:%n",
    footer = {"  baton chaos list", "  baton chaos list -o json | jq -r '.[].name'"})
final class ListCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final Common common = new Common();

  ListCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    if (common.isJson()) {
      ArrayNode all = JsonMapper.builder().build().createArrayNode();
      for (Scenario scenario : Scenario.all()) {
        ObjectNode one = all.addObject();
        one.put("name", scenario.name());
        one.put("description", scenario.description());
        one.put("rounds", scenario.rounds());
      }
      context.terminal().print(all);
    } else {
      for (Scenario scenario : Scenario.all()) {
        context
            .terminal()
            .println(String.format("%-28s %s", scenario.name(), scenario.description()));
      }
    }
    return ExitCode.OK.number();
  }
}
