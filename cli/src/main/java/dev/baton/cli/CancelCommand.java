package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.CancelRunResponse;
import dev.baton.proto.v1.RunState;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Stops a run. */
@Command(
    name = "cancel",
    header = "Ask a run to stop.",
    description =
        "Waiting tasks end at once, running ones when their worker says so. Harmless when repeated, and for a run that has ended.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton cancel 01JB4X5M8ZP7Q9T2V3W4Y6A1C0 --reason 'wrong input'",
      "  baton list --state running -o json | jq -r '.runs[].runId' | xargs -n1 baton cancel"
    })
final class CancelCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "RUN", description = "id of the run")
  private String run = "";

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      defaultValue = "",
      description = "recorded with the run, at most 256 characters")
  private String reason = "";

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  CancelCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    CancelRunRequest request =
        CancelRunRequest.newBuilder()
            .setRunId(run)
            .setReason(reason)
            .setActor(context.environment().getOrDefault("USER", ""))
            .build();
    try (BatonClient client = connection.open(context)) {
      CancelRunResponse response = client.cancel(request);
      String state = Json.state(response.getState());
      ObjectNode json = Json.object();
      json.put("runId", run);
      json.put("state", state);
      json.put("seq", response.getSeq());
      if (!common.printed(context, json)) {
        context
            .terminal()
            .println(
                response.getState() == RunState.RUN_RUNNING
                    ? "Run " + run + " is being cancelled; its running tasks are told to stop"
                    : "Run " + run + " has ended: " + state);
      }
      return ExitCode.OK.number();
    }
  }
}
