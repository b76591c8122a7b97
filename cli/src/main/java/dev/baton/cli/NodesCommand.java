package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.Table.Cell;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal.Style;
import dev.baton.client.BatonClient;
import dev.baton.node.ExitCode;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.Node;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the scheduler nodes. */
@Command(
    name = "nodes",
    header = "Show the scheduler nodes, and which of them leads.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton nodes",
      "  baton nodes --endpoints 10.0.0.1:7400",
      "  baton nodes -o json | jq -r '.nodes[] | select(.leader) | .nodeId'"
    })
final class NodesCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final Connection connection = new Connection();
  @Mixin private final Common common = new Common();

  NodesCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    try (BatonClient client = connection.open(context)) {
      ListNodesResponse response = client.listNodes();
      ObjectNode json = Json.object();
      ArrayNode nodes = json.putArray("nodes");
      response.getNodesList().forEach(node -> nodes.add(Json.node(node)));
      json.put("term", response.getTerm());
      json.put("seq", response.getSeq());
      if (!common.printed(context, json)) {
        print(response);
      }
      return ExitCode.OK.number();
    }
  }

  private void print(ListNodesResponse response) {
    Table table = new Table("NODE", "ROLE", "API", "HTTP", "VERSION");
    for (Node node : response.getNodesList()) {
      table.row(
          node.getNodeId(),
          role(node),
          node.getApiAddress(),
          node.getHttpAddress(),
          node.getVersion());
    }
    table.print(context.terminal());
    boolean led = response.getNodesList().stream().anyMatch(Node::getLeader);
    context
        .terminal()
        .println(
            led
                ? "Term " + response.getTerm()
                : "Nobody leads; the last term was " + response.getTerm());
  }

  private static Cell role(Node node) {
    if (node.getLeader()) {
      return new Cell("leader", Style.GREEN);
    }
    return node.getLoading() ? new Cell("loading", Style.YELLOW) : new Cell("standby", Style.PLAIN);
  }
}
