package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Tells why tasks wait, and why they ran more than once. */
@Command(
    name = "explain",
    header = "Tell why the tasks of a run wait, or ran more than once.",
    description =
        "Every task that has not started waits for exactly one reason. A task has a further attempt only"
            + " after the one before it failed, was lost with its worker, or found no room there.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton explain 01JB4X5M8ZP7Q9T2V3W4Y6A1C0",
      "  baton explain 01JB4X5M8ZP7Q9T2V3W4Y6A1C0 merge       one task, attempt by attempt",
      "  baton explain 01JB4X5M8ZP7Q9T2V3W4Y6A1C0 -o json | jq '.tasks[] | select(.waitKind)'"
    })
final class ExplainCommand implements Callable<Integer> {
  private static final int MOST_TOLD = 50;
  private static final int MOST_NAMED = 5;

  private final Context context;

  @Parameters(index = "0", paramLabel = "RUN", description = "id of the run")
  private String runId = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "TASK",
      description = "only this task, whatever it does")
  private @Nullable String taskId;

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  ExplainCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      Run run = client.get(GetRunRequest.newBuilder().setRunId(runId).build()).getRun();
      List<Task> tasks = taskId == null ? worthTelling(run) : List.of(find(run, taskId));
      ObjectNode json = Json.object();
      json.put("runId", run.getRunId());
      json.put("state", Json.state(run.getState()));
      json.put("reason", run.getReason().isEmpty() ? null : run.getReason());
      ArrayNode told = json.putArray("tasks");
      tasks.forEach(task -> told.add(tell(task)));
      if (!common.printed(context, json)) {
        print(run, tasks);
      }
      return ExitCode.OK.number();
    }
  }

  private static List<Task> worthTelling(Run run) {
    return run.getTasksList().stream()
        .filter(task ->
            !task.getWaitReason().isEmpty()
                || task.getAttemptsCount() > 1
                || isBadEnd(task.getState()))
        .toList();
  }

  private static boolean isBadEnd(TaskState state) {
    return switch (state) {
      case TASK_FAILED, TASK_TIMEOUT, TASK_SKIPPED -> true;
      case TASK_STATE_UNSPECIFIED,
          TASK_PENDING,
          TASK_READY,
          TASK_RUNNING,
          TASK_SUCCESS,
          TASK_CANCELLED,
          UNRECOGNIZED ->
          false;
    };
  }

  private static Task find(Run run, String id) {
    return run.getTasksList().stream()
        .filter(task -> task.getTaskId().equals(id))
        .findFirst()
        .orElseThrow(() ->
            new ExitException(
                ExitCode.REFUSED,
                "run " + run.getRunId() + " has no task '" + id + "': 'baton get' lists them"));
  }

  private static ObjectNode tell(Task task) {
    ObjectNode json = Json.object();
    json.put("taskId", task.getTaskId());
    json.put("state", Json.state(task.getState()));
    json.put("waitKind", Json.waitKind(task.getWaitKind()));
    json.put("waitReason", task.getWaitReason().isEmpty() ? null : task.getWaitReason());
    ArrayNode attempts = json.putArray("attempts");
    task.getAttemptsList().forEach(attempt -> attempts.add(sentence(attempt)));
    return json;
  }

  private void print(Run run, List<Task> tasks) {
    Terminal terminal = context.terminal();
    terminal.println(
        "Run "
            + run.getRunId()
            + " of "
            + run.getWorkflow()
            + ": "
            + terminal.style(TextWatch.style(run.getState()), Json.state(run.getState()))
            + (run.getReason().isEmpty() ? "" : " (" + run.getReason() + ")"));
    if (tasks.isEmpty()) {
      terminal.println("Nothing waits, and every task has started at most once.");
    }
    List<List<Task>> groups = alike(tasks);
    for (List<Task> group : groups.subList(0, Math.min(groups.size(), MOST_TOLD))) {
      Task first = group.getFirst();
      terminal.println("");
      terminal.println(
          names(group)
              + "  "
              + terminal.style(TextWatch.style(first.getState()), Json.state(first.getState())));
      lines(first).forEach(line -> terminal.println("  " + line));
    }
    if (groups.size() > MOST_TOLD) {
      terminal.println("");
      terminal.println(
          "And " + (groups.size() - MOST_TOLD) + " more: name a task, or see all with -o json");
    }
  }

  /** Tasks that never started, for the same reason, are told together. */
  private static List<List<Task>> alike(List<Task> tasks) {
    Map<String, List<Task>> groups = new LinkedHashMap<>();
    for (Task task : tasks) {
      String key =
          task.getAttemptsCount() > 0
              ? "task " + task.getTaskId()
              : task.getState() + " " + task.getWaitReason();
      groups.computeIfAbsent(key, k -> new ArrayList<>()).add(task);
    }
    return List.copyOf(groups.values());
  }

  private static String names(List<Task> tasks) {
    String first =
        tasks.stream().limit(MOST_NAMED).map(Task::getTaskId).collect(Collectors.joining(", "));
    int more = tasks.size() - MOST_NAMED;
    return more <= 0 ? first : first + " and " + more + " more";
  }

  private static List<String> lines(Task task) {
    List<String> lines = new ArrayList<>();
    task.getAttemptsList().forEach(attempt -> lines.add(sentence(attempt)));
    if (!task.getWaitReason().isEmpty()) {
      lines.add(task.getWaitReason());
    } else if (task.getState() == TaskState.TASK_SKIPPED) {
      lines.add("a task it depends on did not succeed");
    } else if (task.getAttemptsCount() == 0) {
      lines.add("never started");
    }
    return lines;
  }

  /** What became of an attempt, and what that led to. */
  private static String sentence(Attempt attempt) {
    String what =
        "attempt " + attempt.getNumber() + " on " + attempt.getWorkerId() + " " + fate(attempt);
    return attempt.getReason().isEmpty() ? what : what + ": " + attempt.getReason();
  }

  private static String fate(Attempt attempt) {
    return switch (attempt.getOutcome()) {
      case ATTEMPT_OUTCOME_UNSPECIFIED -> "runs";
      case ATTEMPT_SUCCESS -> "succeeded after " + Times.duration(attempt.getDurationMs());
      case ATTEMPT_FAILED ->
          "failed after " + Times.duration(attempt.getDurationMs()) + ", which counts as a try";
      case ATTEMPT_TIMEOUT ->
          "ran out of time after "
              + Times.duration(attempt.getDurationMs())
              + ", which counts as a try";
      case ATTEMPT_CANCELLED -> "was cancelled";
      case ATTEMPT_LOST -> "was lost with its worker, which counts as a loss and not as a try";
      case ATTEMPT_RETURNED -> "found no room there, which counts as nothing";
      case UNRECOGNIZED -> "ended in a way that this version does not know";
    };
  }
}
