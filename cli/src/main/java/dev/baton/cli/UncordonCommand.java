package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.UncordonWorkerResponse;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Takes a worker into service again. */
@Command(
    name = "uncordon",
    header = "Take a worker into service again.",
    description = "A process of it that drains goes on to its end. Harmless when repeated.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {"  baton worker uncordon w1"})
final class UncordonCommand implements Callable<Integer> {
  private final Context context;

  @Parameters(paramLabel = "WORKER", description = "id of the worker")
  private String worker = "";

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  UncordonCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      UncordonWorkerResponse response =
          client.uncordon(UncordonWorkerRequest.newBuilder().setWorkerId(worker).build());
      ObjectNode json = Json.object();
      json.put("workerId", worker);
      json.put("seq", response.getSeq());
      if (!common.printed(context, json)) {
        context.terminal().println("Worker " + worker + " is in service");
      }
      return ExitCode.OK.number();
    }
  }
}
