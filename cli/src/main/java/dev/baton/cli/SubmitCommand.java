package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Starts a run. */
@Command(
    name = "submit",
    header = "Start a run of a workflow.",
    description = "Returns once the run is durable.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton submit examples/diamond.yaml",
      "  baton submit flow.yaml --param count=3 --param name=Ada --param 'tags=[\"a\",\"b\"]'",
      "  baton submit flow.yaml --key order-4711      repeating it returns the same run",
      "  baton submit flow.yaml --wait                exit 0 only if the run succeeds",
      "  generate | baton submit - -o json | jq -r .runId",
      "",
      "A parameter's value is JSON if it parses as JSON (3, true, [1,2], \"3\"), else a string."
    })
final class SubmitCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "FILE", description = "workflow as YAML or JSON; - reads standard input")
  private String file = "";

  @Option(
      names = "--param",
      paramLabel = "NAME=VALUE",
      description = "a parameter of the run; may be repeated")
  private List<String> params = new ArrayList<>();

  @Option(
      names = "--key",
      paramLabel = "KEY",
      defaultValue = "",
      description = "idempotency key: the same key and body give the same run")
  private String key = "";

  @Option(
      names = "--label",
      paramLabel = "NAME=VALUE",
      description = "a label of the run; may be repeated")
  private List<String> labels = new ArrayList<>();

  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      defaultValue = "",
      description = "whom the run belongs to (default: default)")
  private String tenant = "";

  @Option(
      names = "--require-workers",
      description = "refuse if a task type has no live worker, instead of warning")
  private boolean requireWorkers;

  @Option(names = "--wait", description = "follow the run until it has ended")
  private boolean wait;

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  SubmitCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    SubmitRunRequest.Builder request =
        SubmitRunRequest.newBuilder()
            .setDefinition(InputFile.read(context, file))
            .setKey(key)
            .setTenant(tenant)
            .setActor(context.environment().getOrDefault("USER", ""))
            .setRequireWorkers(requireWorkers);
    params.forEach(
        param -> request.putParams(name("--param", param), Json.value(value("--param", param))));
    labels.forEach(label -> request.putLabels(name("--label", label), value("--label", label)));
    try (BatonClient client = connection.open(context)) {
      SubmitRunResponse response = client.submit(request.build());
      response.getWarningsList().forEach(text -> context.terminal().remark("warning: " + text));
      if (!wait) {
        if (!common.printed(context, json(response))) {
          print(response);
        }
        return ExitCode.OK.number();
      }
      return follow(client, response);
    }
  }

  private int follow(BatonClient client, SubmitRunResponse response) {
    Follower follower = new Follower(context);
    String runId = response.getRunId();
    Run run;
    if (common.isJson()) {
      run = follower.follow(client, runId, WatchView.SILENT);
      ObjectNode json = json(response);
      json.set("run", Json.runWithoutTasks(run));
      context.terminal().print(json);
    } else {
      context.terminal().println((response.getExisting() ? "Found run " : "Started run ") + runId);
      run = follower.follow(client, runId, new TextWatch(context.terminal()));
    }
    return Follower.exitCode(run).number();
  }

  private void print(SubmitRunResponse response) {
    Terminal terminal = context.terminal();
    terminal.println(
        (response.getExisting() ? "Found run " : "Started run ") + response.getRunId());
    terminal.remark("Follow it with: baton watch " + response.getRunId());
  }

  private static ObjectNode json(SubmitRunResponse response) {
    ObjectNode json = Json.object();
    json.put("runId", response.getRunId());
    json.put("existing", response.getExisting());
    ArrayNode warnings = json.putArray("warnings");
    response.getWarningsList().forEach(warnings::add);
    json.put("seq", response.getSeq());
    return json;
  }

  private static String name(String option, String text) {
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw new ExitException(ExitCode.USAGE, option + " needs NAME=VALUE, but got '" + text + "'");
    }
    return text.substring(0, equals);
  }

  private static String value(String option, String text) {
    return text.substring(name(option, text).length() + 1);
  }
}
