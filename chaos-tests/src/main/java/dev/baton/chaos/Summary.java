package dev.baton.chaos;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.chaos.checker.Outcome;
import dev.baton.chaos.checker.Verdict;
import dev.baton.chaos.checker.Verdict.CheckResult;
import dev.baton.chaos.checker.Verdict.Milliseconds;
import dev.baton.cli.program.Context;
import java.nio.file.Path;
import java.util.Locale;

/** What a command prints of a verdict. */
record Summary(Verdict verdict, Path reportPath) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  ObjectNode json() {
    ObjectNode json = JSON.createObjectNode();
    json.put("scenario", verdict.scenario());
    json.put("seed", verdict.seed());
    json.put("environment", verdict.environment());
    json.put("rounds", verdict.rounds());
    json.put("verdict", verdict.verdict().word());
    json.put("runsSubmitted", verdict.runsSubmitted());
    json.put("runsEnded", verdict.runsEnded());
    json.put("lost", verdict.lost());
    json.put("duplicateCompletions", verdict.duplicateCompletions());
    json.put("unfencedWrites", verdict.unfencedWrites());
    json.put("rerunsOfFinishedTasks", verdict.rerunsOfFinishedTasks());
    json.put("rerunsOfRunningTasks", verdict.rerunsOfRunningTasks());
    json.set("failoverMs", JSON.valueToTree(verdict.failoverMs()));
    json.set("workerLossMs", JSON.valueToTree(verdict.workerLossMs()));
    json.set("skipped", JSON.valueToTree(verdict.skipped()));
    json.put("reportPath", reportPath.toString());
    return json;
  }

  void print(Context context, boolean asJson) {
    if (asJson) {
      context.terminal().print(json());
      return;
    }
    context
        .terminal()
        .println(
            "%s: %s"
                .formatted(verdict.scenario(), verdict.verdict().word().toUpperCase(Locale.ROOT)));
    for (CheckResult check : verdict.checks()) {
      if (check.outcome() != Outcome.VALID && verdict.verdict() != Outcome.SKIPPED) {
        context.terminal().println("  %s: %s".formatted(check.name(), check.outcome().word()));
        check.evidence().stream()
            .limit(5)
            .forEach(each -> context.terminal().println("    " + each));
      }
    }
    verdict
        .skipped()
        .forEach(skip ->
            context.terminal().println("  skipped %s: %s".formatted(skip.fault(), skip.reason())));
    context
        .terminal()
        .println(
            "  %d rounds, %d runs submitted, %d ended, %d lost, %d accepted twice, %d unfenced writes"
                .formatted(
                    verdict.rounds(),
                    verdict.runsSubmitted(),
                    verdict.runsEnded(),
                    verdict.lost(),
                    verdict.duplicateCompletions(),
                    verdict.unfencedWrites()));
    context
        .terminal()
        .println(
            "  run again: %d finished tasks, %d running tasks; all second executions: %s"
                .formatted(
                    verdict.rerunsOfFinishedTasks(),
                    verdict.rerunsOfRunningTasks(),
                    verdict.secondExecutions()));
    print(context, "fail-over", verdict.failoverMs());
    print(context, "tasks of a dead worker run again after", verdict.workerLossMs());
    context.terminal().println("  report: " + reportPath.resolve("index.html"));
  }

  private static void print(Context context, String what, Milliseconds times) {
    if (times.count() > 0) {
      context
          .terminal()
          .println(
              "  %s: p50 %d ms, p99 %d ms, longest %d ms, of %d"
                  .formatted(what, times.p50(), times.p99(), times.max(), times.count()));
    }
  }
}
