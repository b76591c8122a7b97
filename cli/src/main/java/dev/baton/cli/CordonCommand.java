package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.CordonWorkerResponse;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Gives a worker nothing new. */
@Command(
    name = "cordon",
    header = "Give a worker nothing new.",
    description =
        "It goes on with what it runs, and stays registered. It stays cordoned through fail-overs and"
            + " restarts, until 'baton worker uncordon'. Harmless when repeated.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {"  baton worker cordon w1"})
final class CordonCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "WORKER", description = "id of the worker")
  private String worker = "";

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  CordonCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      CordonWorkerResponse response =
          client.cordon(
              CordonWorkerRequest.newBuilder()
                  .setWorkerId(worker)
                  .setActor(WorkerCommand.actor(context))
                  .build());
      ObjectNode json = Json.object();
      json.put("workerId", worker);
      json.put("seq", response.getSeq());
      if (!common.printed(context, json)) {
        context
            .terminal()
            .println(
                "Worker "
                    + worker
                    + " gets nothing new until 'baton worker uncordon "
                    + worker
                    + "'");
      }
      return ExitCode.OK.number();
    }
  }
}
