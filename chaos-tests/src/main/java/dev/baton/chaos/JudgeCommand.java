package dev.baton.chaos;

import dev.baton.chaos.checker.Verdict;
import dev.baton.chaos.report.ReportFolder;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Judges a recorded history again. */
@Command(
    name = "judge",
    header = "Judge the history in a report folder again, without running anything.",
    description =
        "Writes verdict.json and index.html anew. Exits with 0 only if it is valid, or nothing could be done.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton chaos judge .baton/chaos/kill-leader-7-20260101-120000",
      "  baton chaos judge FOLDER -o json | jq .verdict"
    })
final class JudgeCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "FOLDER", description = "a report folder, with history.jsonl in it")
  private Path folder = Path.of("");

  @Mixin private final Common common = new Common();

  JudgeCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    ReportFolder report = new ReportFolder(context.resolve(folder));
    if (!Files.isRegularFile(report.history())) {
      throw new ExitException(
          ExitCode.USAGE, "there is no history in " + folder + ": expected " + report.history());
    }
    try {
      Verdict verdict = report.judge();
      new Summary(verdict, report.path()).print(context, common.isJson());
      return (verdict.verdict().isGood() ? ExitCode.OK : ExitCode.FAILED).number();
    } catch (IOException e) {
      throw new ExitException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
    }
  }
}
