package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.LeaderKill;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.node.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Signals the leader of the local cluster and reports who took over. */
@Command(
    name = "kill-leader",
    header = "Kill the leader of the local cluster, and see who takes over.",
    description = "Waits until another scheduler leads, and says who and after how long.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton kill-leader                    as kill -9",
      "  baton kill-leader --signal TERM      it resigns first",
      "  baton kill-leader --signal STOP      it hangs; 'baton up' lets it go on",
      "  baton up                             starts the killed one again"
    })
final class KillLeaderCommand implements Callable<Integer> {
  private final Context context;

  @Option(
      names = "--signal",
      paramLabel = "SIGNAL",
      defaultValue = "KILL",
      description = "KILL (default), TERM, or STOP")
  private Signal signal = Signal.KILL;

  @Mixin private final LocalOptions local = new LocalOptions();
  @Mixin private final Common common = new Common();

  KillLeaderCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    LeaderKill kill = LeaderKill.run(local.folder(context), signal);
    ObjectNode json = Json.object();
    json.put("killed", kill.killed());
    json.put("pid", kill.pid());
    json.put("signal", kill.signal().name());
    json.put("oldTerm", kill.oldTerm());
    json.put("leader", kill.leader());
    json.put("term", kill.term());
    json.put("tookMs", kill.tookMillis());
    if (!common.printed(context, json)) {
      Terminal terminal = context.terminal();
      terminal.println(
          "Sent SIG"
              + kill.signal()
              + " to the leader "
              + kill.killed()
              + " (pid "
              + kill.pid()
              + ", term "
              + kill.oldTerm()
              + ")");
      terminal.println(
          kill.leader()
              + " leads in term "
              + kill.term()
              + ", "
              + Times.duration(kill.tookMillis())
              + " after the signal");
      terminal.remark(
          kill.signal() == Signal.STOP
              ? "Let " + kill.killed() + " go on with: baton up"
              : "Start " + kill.killed() + " again with: baton up");
    }
    return ExitCode.OK.number();
  }
}
