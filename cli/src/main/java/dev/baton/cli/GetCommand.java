package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.Table.Cell;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.cli.program.Terminal.Style;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskCounts;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows one run, or the output of one of its tasks. */
@Command(
    name = "get",
    header = "Show a run with its tasks and attempts, or the output of a task.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton get 01JB4X5M8ZP7Q9T2V3W4Y6A1C0",
      "  baton get 01JB4X5M8ZP7Q9T2V3W4Y6A1C0 --output merge       the task's output, a JSON text",
      "  baton get 01JB4X5M8ZP7Q9T2V3W4Y6A1C0 -o json | jq -r .state"
    })
final class GetCommand implements Callable<Integer> {
  /** Keeps a cell blank, where an empty one would show a dash. */
  private static final String BLANK = " ";

  private final Context context;

  @Parameters(paramLabel = "RUN", description = "id of the run")
  private String run = "";

  @Option(
      names = "--output",
      paramLabel = "TASK",
      description = "print the output of this task, as it is")
  private @Nullable String outputOf;

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  GetCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      if (outputOf != null) {
        GetOutputRequest request =
            GetOutputRequest.newBuilder().setRunId(run).setTaskId(outputOf).build();
        context.terminal().println(client.getOutput(request).getOutputJson());
        return ExitCode.OK.number();
      }
      GetRunResponse response = client.get(GetRunRequest.newBuilder().setRunId(run).build());
      ObjectNode json = Json.run(response.getRun());
      json.put("seq", response.getSeq());
      json.put("stalenessMs", response.getStalenessMs());
      if (!common.printed(context, json)) {
        print(response);
      }
      return ExitCode.OK.number();
    }
  }

  private void print(GetRunResponse response) {
    Terminal terminal = context.terminal();
    Run run = response.getRun();
    Instant now = terminal.clock().instant();
    if (response.getStalenessMs() > 0) {
      terminal.remark(
          "warning: the node that answers has lost touch with etcd; this may be as old as "
              + Times.duration(response.getStalenessMs()));
    }
    TaskCounts counts = run.getCounts();
    line("Run", run.getRunId());
    line("Workflow", (run.getWorkflow() + " " + run.getWorkflowVersion()).strip());
    line(
        "State",
        terminal.style(TextWatch.style(run.getState()), Json.state(run.getState()))
            + (run.getCancelling() ? ", being cancelled" : "")
            + ", "
            + TextWatch.ended(counts)
            + " of "
            + TextWatch.all(counts)
            + " tasks ended");
    line("Reason", run.getReason());
    line("Created", Times.ago(run.getCreatedAt(), now) + ", " + Times.iso(run.getCreatedAt()));
    long until = run.getEndedAt() == 0 ? now.toEpochMilli() : run.getEndedAt();
    line(
        "Took",
        Times.duration(until - run.getCreatedAt()) + (run.getEndedAt() == 0 ? " so far" : ""));
    line("Key", run.getKey());
    line("Tenant", run.getTenant().equals("default") ? "" : run.getTenant());
    line("Labels", labels(run.getLabelsMap()));
    line("Actor", run.getActor());
    if (run.getTasksCount() > 0) {
      terminal.println("");
      tasks(run, now);
    }
  }

  private void tasks(Run run, Instant now) {
    Table table =
        new Table("TASK", "STATE", "ATTEMPT", "WORKER", "STARTED", "TOOK", "OUTCOME", "WHY");
    for (Task task : run.getTasksList()) {
      Cell state = new Cell(Json.state(task.getState()), TextWatch.style(task.getState()));
      String why = waiting(task, now);
      if (task.getAttemptsCount() == 0) {
        table.row(task.getTaskId(), state, "", "", "", "", "", why);
      }
      for (int i = 0; i < task.getAttemptsCount(); i++) {
        Attempt attempt = task.getAttempts(i);
        boolean last = i == task.getAttemptsCount() - 1;
        table.row(
            i == 0 ? task.getTaskId() : BLANK,
            i == 0 ? state : BLANK,
            attempt.getNumber(),
            attempt.getWorkerId(),
            Times.ago(attempt.getStartedAt(), now),
            took(attempt, now),
            outcome(attempt),
            last && attempt.getReason().isEmpty() ? why : attempt.getReason());
      }
    }
    table.print(context.terminal());
  }

  private static String waiting(Task task, Instant now) {
    String why = task.getWaitReason();
    long wait = task.getRetryAt() - now.toEpochMilli();
    return task.getRetryAt() > 0 && wait > 0 && why.isEmpty()
        ? "again in " + Times.duration(wait)
        : why;
  }

  private static String took(Attempt attempt, Instant now) {
    boolean running = attempt.getOutcome() == AttemptOutcome.ATTEMPT_OUTCOME_UNSPECIFIED;
    return Times.duration(
        running ? now.toEpochMilli() - attempt.getStartedAt() : attempt.getDurationMs());
  }

  private static Cell outcome(Attempt attempt) {
    Style style =
        switch (attempt.getOutcome()) {
          case ATTEMPT_SUCCESS -> Style.GREEN;
          case ATTEMPT_FAILED, ATTEMPT_TIMEOUT -> Style.RED;
          case ATTEMPT_OUTCOME_UNSPECIFIED -> Style.CYAN;
          case ATTEMPT_LOST, ATTEMPT_RETURNED -> Style.YELLOW;
          case ATTEMPT_CANCELLED, UNRECOGNIZED -> Style.DIM;
        };
    return new Cell(Json.outcome(attempt.getOutcome()), style);
  }

  static String labels(Map<String, String> labels) {
    return labels.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(", "));
  }

  private void line(String name, String value) {
    if (!value.isEmpty()) {
      Terminal terminal = context.terminal();
      terminal.println(terminal.style(Style.DIM, String.format("%-9s", name)) + " " + value);
    }
  }
}
