package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.cluster.Polling;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.Worker;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Ends a worker without losing what it runs. */
@Command(
    name = "drain",
    header = "Let a worker finish what it runs, and end.",
    description =
        "It gets nothing new and hands back what it has not started; its process ends, with 0, once all"
            + " that runs has ended and its results are taken, however long that takes. It stays"
            + " cordoned: one that is started again gets nothing until 'baton worker uncordon'."
            + " Harmless when repeated; Ctrl-C ends the waiting, not the drain.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton worker drain w1",
      "  baton worker drain w1 --no-wait",
      "  baton worker drain w1 --wait 2h && systemctl restart baton-worker@w1 && baton worker uncordon w1"
    })
final class DrainCommand implements Callable<Integer> {
  private static final Duration POLL = Duration.ofMillis(500);

  private final Context context;

  @Parameters(paramLabel = "WORKER", description = "id of the worker")
  private String id = "";

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      defaultValue = "10m",
      description = "wait so long for its end (default 10m); then exits with 1, and it goes on")
  private Duration wait = Duration.ofMinutes(10);

  @Option(names = "--no-wait", description = "do not wait for its end")
  private boolean noWait;

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  DrainCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      Worker worker = WorkerCommand.find(client, id);
      // Without a process there is nothing to drain: one that registers now was not meant.
      boolean isThere = !worker.getIncarnation().isEmpty();
      client.cordon(
          CordonWorkerRequest.newBuilder()
              .setWorkerId(id)
              .setDrain(isThere)
              .setIncarnation(worker.getIncarnation())
              .setActor(WorkerCommand.actor(context))
              .build());
      boolean ended = noWait ? isGone(client, worker) : awaitEnd(client, worker);
      ObjectNode json = Json.object();
      json.put("workerId", id);
      json.put("incarnation", worker.getIncarnation());
      json.put("ended", ended);
      if (!common.printed(context, json)) {
        context
            .terminal()
            .println(
                ended
                    ? "Worker "
                        + id
                        + (isThere ? " has ended" : " was not there")
                        + ", and stays cordoned"
                    : "Worker " + id + " drains: it ends when what it runs has ended");
      }
      return ExitCode.OK.number();
    }
  }

  private boolean awaitEnd(BatonClient client, Worker worker) {
    if (Polling.until(
            wait,
            POLL,
            () -> isGone(client, worker) ? Optional.of(true) : Optional.<Boolean>empty())
        .isPresent()) {
      return true;
    }
    int busy = WorkerCommand.find(client, id).getSlotsUsed();
    throw new ExitException(
        ExitCode.FAILED,
        "worker "
            + id
            + " still has "
            + busy
            + " slots in use; it drains on: wait longer with --wait, or see 'baton workers'");
  }

  /** Its process has left the registry, and has no stream any more. */
  private static boolean isGone(BatonClient client, Worker worker) {
    return client.listWorkers().getWorkersList().stream()
        .noneMatch(now ->
            now.getWorkerId().equals(worker.getWorkerId())
                && now.getIncarnation().equals(worker.getIncarnation())
                && !now.getIncarnation().isEmpty());
  }
}
