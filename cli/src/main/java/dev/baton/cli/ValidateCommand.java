package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import dev.baton.workflow.Judged;
import dev.baton.workflow.Problem;
import dev.baton.workflow.Workflow;
import dev.baton.workflow.WorkflowReader;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Judges a definition as a node would. */
@Command(
    name = "validate",
    header = "Judge a workflow file, without a cluster.",
    description = "By the same rules as a cluster. Exits with 0 if it breaks none, else with 2.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton validate examples/diamond.yaml",
      "  baton validate flow.yaml -o json | jq '.problems[]'"
    })
final class ValidateCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "FILE", description = "workflow as YAML or JSON; - reads standard input")
  private String file = "";

  @Mixin private final Common common = new Common();

  ValidateCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    return switch (new WorkflowReader().read(InputFile.read(context, file))) {
      case Judged.Accepted<Workflow>(Workflow workflow) -> {
        if (!common.printed(context, json(workflow))) {
          int tasks = workflow.tasks().size();
          context
              .terminal()
              .println(
                  file
                      + " is valid: workflow "
                      + workflow.name()
                      + " with "
                      + tasks
                      + (tasks == 1 ? " task" : " tasks"));
        }
        yield ExitCode.OK.number();
      }
      case Judged.Refused<Workflow> refused -> {
        if (!common.printed(context, json(refused.problems(), refused.total()))) {
          context.terminal().remark(file + " breaks " + rules(refused.total()) + ":");
          refused.report().lines().forEach(line -> context.terminal().remark("  " + line));
        }
        yield ExitCode.USAGE.number();
      }
    };
  }

  private static String rules(int count) {
    return count == 1 ? "a rule" : count + " rules";
  }

  private static ObjectNode json(Workflow workflow) {
    ObjectNode json = Json.object();
    json.put("valid", true);
    json.put("workflow", workflow.name());
    json.put("version", workflow.version().isEmpty() ? null : workflow.version());
    json.put("tasks", workflow.tasks().size());
    json.putArray("problems");
    json.put("total", 0);
    return json;
  }

  private static ObjectNode json(List<Problem> problems, int total) {
    ObjectNode json = Json.object();
    json.put("valid", false);
    json.putNull("workflow");
    json.putNull("version");
    json.putNull("tasks");
    ArrayNode array = json.putArray("problems");
    for (Problem problem : problems) {
      array
          .addObject()
          .put("place", problem.place())
          .put("line", problem.line())
          .put("column", problem.column())
          .put("message", problem.message());
    }
    json.put("total", total);
    return json;
  }
}
