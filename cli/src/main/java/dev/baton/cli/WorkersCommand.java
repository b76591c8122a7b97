package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.Table.Cell;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal.Style;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.proto.v1.ListWorkersResponse;
import dev.baton.proto.v1.Worker;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the workers. */
@Command(
    name = "workers",
    header = "Show the workers: what they can do, how busy they are.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {"  baton workers", "  baton workers -o json | jq '[.workers[].slots] | add'"})
final class WorkersCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  WorkersCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      ListWorkersResponse response = client.listWorkers();
      ObjectNode json = Json.object();
      ArrayNode workers = json.putArray("workers");
      response.getWorkersList().forEach(worker -> workers.add(Json.worker(worker)));
      json.put("seq", response.getSeq());
      if (!common.printed(context, json)) {
        print(response);
      }
      return ExitCode.OK.number();
    }
  }

  private void print(ListWorkersResponse response) {
    if (response.getWorkersCount() == 0) {
      context
          .terminal()
          .remark("There are no workers; 'baton worker --help' tells how to start one.");
      return;
    }
    Table table =
        new Table(
            "WORKER",
            "PRESENCE",
            "SERVICE",
            "SLOTS",
            "CAPABILITIES",
            "ADDRESS",
            "VERSION",
            "LABELS");
    for (Worker worker : response.getWorkersList()) {
      Style style =
          switch (worker.getPresence()) {
            case CONNECTED -> Style.GREEN;
            case SUSPECT, UNREGISTERED -> Style.YELLOW;
            case REGISTERED, ABSENT, PRESENCE_UNSPECIFIED, UNRECOGNIZED -> Style.PLAIN;
          };
      table.row(
          worker.getWorkerId(),
          new Cell(Json.presence(worker.getPresence()), style),
          service(worker),
          worker.getSlotsUsed() + "/" + worker.getSlots(),
          String.join(",", worker.getCapabilitiesList()),
          worker.getAddress(),
          worker.getVersion(),
          GetCommand.labels(worker.getLabelsMap()));
    }
    table.print(context.terminal());
  }

  private static Cell service(Worker worker) {
    if (worker.getDraining()) {
      return new Cell("draining", Style.YELLOW);
    }
    return worker.getCordoned() ? new Cell("cordoned", Style.YELLOW) : new Cell("", Style.PLAIN);
  }
}
