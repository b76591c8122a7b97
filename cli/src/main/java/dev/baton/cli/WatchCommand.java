package dev.baton.cli;

import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Follows a run. */
@Command(
    name = "watch",
    header = "Follow a run until it has ended.",
    description =
        "Goes on through fail-overs. Exits with 0 only if the run succeeds; Ctrl-C leaves the run alone.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton watch 01JB4X5M8ZP7Q9T2V3W4Y6A1C0",
      "  baton watch 01JB4X5M8ZP7Q9T2V3W4Y6A1C0 -o json    a JSON document a line:",
      "      {\"event\":\"change\",...}, {\"event\":\"leader\",...}, {\"event\":\"reopened\",...}"
    })
final class WatchCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "RUN", description = "id of the run")
  private String run = "";

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  WatchCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    WatchView view =
        common.isJson() ? new JsonWatch(context.terminal()) : new TextWatch(context.terminal());
    try (BatonClient client = connection.open(context)) {
      return Follower.exitCode(new Follower(context).follow(client, run, view)).number();
    }
  }
}
