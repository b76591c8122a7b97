package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.Table.Cell;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.ListRunsRequest;
import dev.baton.proto.v1.ListRunsResponse;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows runs. */
@Command(
    name = "list",
    header = "Show runs, newest first.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton list",
      "  baton list --state running",
      "  baton list --name text-pipeline --limit 500 -o json | jq -r '.runs[].runId'"
    })
final class ListCommand implements Callable<Integer> {
  private static final int PAGE = 1000;
  private static final int MAX_LIMIT = 100_000;

  private final Context context;

  /** States that can be asked for. */
  enum State {
    RUNNING(RunState.RUN_RUNNING),
    SUCCESS(RunState.RUN_SUCCESS),
    FAILED(RunState.RUN_FAILED),
    TIMEOUT(RunState.RUN_TIMEOUT),
    CANCELLED(RunState.RUN_CANCELLED);

    private final RunState proto;

    State(RunState proto) {
      this.proto = proto;
    }
  }

  @Option(
      names = "--state",
      paramLabel = "STATE",
      description = "only these: running, success, failed, timeout, cancelled")
  private @Nullable State state;

  @Option(
      names = "--name",
      paramLabel = "WORKFLOW",
      defaultValue = "",
      description = "only runs of this workflow")
  private String name = "";

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "at most so many, 1 to " + MAX_LIMIT + " (default 50)")
  private int limit;

  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      defaultValue = "",
      description = "whose runs (default: default)")
  private String tenant = "";

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  ListCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new ExitException(
          ExitCode.USAGE, "--limit is 1 to " + MAX_LIMIT + ", but got " + limit);
    }
    try (BatonClient client = connection.open(context)) {
      List<Run> runs = new ArrayList<>();
      String page = "";
      do {
        ListRunsResponse response = client.listRuns(request(page, limit - runs.size()));
        runs.addAll(response.getRunsList());
        page = response.getNextPageToken();
      } while (!page.isEmpty() && runs.size() < limit);
      boolean more = !page.isEmpty();
      if (!common.printed(context, json(runs, more))) {
        print(runs, more);
      }
      return ExitCode.OK.number();
    }
  }

  private ListRunsRequest request(String page, int rest) {
    ListRunsRequest.Builder request =
        ListRunsRequest.newBuilder()
            .setName(name)
            .setTenant(tenant)
            .setLimit(Math.min(PAGE, rest))
            .setPageToken(page);
    if (state != null) {
      request.setState(state.proto);
    }
    return request.build();
  }

  private static ObjectNode json(List<Run> runs, boolean more) {
    ObjectNode json = Json.object();
    ArrayNode array = json.putArray("runs");
    runs.forEach(run -> array.add(Json.runWithoutTasks(run)));
    json.put("more", more);
    return json;
  }

  private void print(List<Run> runs, boolean more) {
    Terminal terminal = context.terminal();
    if (runs.isEmpty()) {
      terminal.remark("There are no such runs.");
      return;
    }
    Instant now = terminal.clock().instant();
    Table table = new Table("RUN", "WORKFLOW", "STATE", "TASKS", "CREATED", "TOOK", "KEY", "WHY");
    for (Run run : runs) {
      long until = run.getEndedAt() == 0 ? now.toEpochMilli() : run.getEndedAt();
      table.row(
          run.getRunId(),
          run.getWorkflow(),
          new Cell(Json.state(run.getState()), TextWatch.style(run.getState())),
          TextWatch.ended(run.getCounts()) + "/" + TextWatch.all(run.getCounts()),
          Times.ago(run.getCreatedAt(), now),
          Times.duration(until - run.getCreatedAt()),
          run.getKey(),
          run.getReason());
    }
    table.print(terminal);
    if (more) {
      terminal.remark("There are more; --limit shows more than " + limit + ".");
    }
  }
}
