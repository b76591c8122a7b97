package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.Table.Cell;
import dev.baton.cli.cluster.ClusterStatus;
import dev.baton.cli.cluster.ClusterStatus.Answer;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.cli.program.Terminal.Style;
import dev.baton.node.ExitCode;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows how the local cluster is. */
@Command(
    name = "status",
    header = "Show the local cluster: processes, leader, workers, runs.",
    description = "Exits with 0 if somebody leads, else with 4.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {"  baton status", "  baton status -o json | jq -r .leader"})
final class StatusCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final LocalOptions local = new LocalOptions();
  @Mixin private final Common common = new Common();

  StatusCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    ClusterStatus status = ClusterStatus.of(local.folder(context));
    if (!common.printed(context, json(status))) {
      print(context.terminal(), status);
    }
    Answer answer = status.answer();
    boolean led = answer != null && !answer.leader().isEmpty();
    return (led ? ExitCode.OK : ExitCode.UNREACHABLE).number();
  }

  static ObjectNode json(ClusterStatus status) {
    ObjectNode json = Json.object();
    json.put("cluster", status.cluster());
    json.put("folder", status.folder().toString());
    ArrayNode processes = json.putArray("processes");
    for (ClusterStatus.Part process : status.parts()) {
      processes
          .addObject()
          .put("name", process.name())
          .put("role", process.role().name().toLowerCase(Locale.ROOT))
          .put("state", process.state().name())
          .put("pid", process.pid() == 0 ? null : process.pid())
          .put("address", process.address())
          .put("health", process.health().isEmpty() ? null : process.health())
          .put("log", process.log().toString());
    }
    Answer answer = status.answer();
    json.put("leader", answer == null || answer.leader().isEmpty() ? null : answer.leader());
    json.put("term", answer == null ? null : answer.term());
    json.put("workersConnected", answer == null ? null : answer.workersConnected());
    json.put("workersCordoned", answer == null ? null : answer.workersCordoned());
    json.put("slots", answer == null ? null : answer.slots());
    json.put("slotsUsed", answer == null ? null : answer.slotsUsed());
    json.put("runsRunning", answer == null ? null : answer.runsRunning());
    return json;
  }

  static void print(Terminal terminal, ClusterStatus status) {
    Table table = new Table("PROCESS", "ROLE", "STATE", "HEALTH", "PID", "ADDRESS", "LOG");
    Answer answer = status.answer();
    for (ClusterStatus.Part process : status.parts()) {
      boolean leads = answer != null && answer.leader().equals(process.name());
      table.row(
          process.name(),
          leads ? "leader" : process.role().name().toLowerCase(Locale.ROOT),
          new Cell(process.state().name(), style(process.state())),
          process.health(),
          process.state() == State.DEAD ? "" : process.pid(),
          process.address(),
          status.folder().relativize(process.log()));
    }
    table.print(terminal);
    terminal.println("");
    terminal.println("Folder " + status.folder());
    if (answer == null) {
      terminal.println("Nobody answers: " + status.silence());
      return;
    }
    terminal.println(
        answer.leader().isEmpty()
            ? "Nobody leads; the last term was " + answer.term()
            : answer.leader() + " leads, in term " + answer.term());
    terminal.println(
        answer.workersConnected()
            + " workers connected, "
            + (answer.workersCordoned() > 0 ? answer.workersCordoned() + " cordoned, " : "")
            + answer.slotsUsed()
            + " of "
            + answer.slots()
            + " slots in use, "
            + answer.runsRunning()
            + (answer.moreRuns() ? " or more" : "")
            + " runs running");
  }

  private static Style style(State state) {
    return switch (state) {
      case RUNNING -> Style.GREEN;
      case STOPPED -> Style.YELLOW;
      case DEAD -> Style.RED;
    };
  }
}
