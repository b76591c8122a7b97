package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Terminal;
import dev.baton.client.Endpoint;
import dev.baton.proto.v1.WatchRunResponse;

/** Shows a watch as JSON lines, for programs. */
final class JsonWatch implements WatchView {
  private final Terminal terminal;

  JsonWatch(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public void onChange(WatchRunResponse change) {
    ObjectNode json = event("change");
    json.put("seq", change.getSeq());
    json.put("term", change.getTerm());
    json.put("leader", change.getLeaderNodeId());
    json.set("run", Json.runWithoutTasks(change.getRun()));
    ArrayNode tasks = json.putArray("tasks");
    change.getTasksList().forEach(task -> tasks.add(Json.task(task)));
    terminal.println(Json.line(json));
  }

  @Override
  public void onLeader(String nodeId, long term) {
    ObjectNode json = event("leader");
    json.put("nodeId", nodeId);
    json.put("term", term);
    terminal.println(Json.line(json));
  }

  @Override
  public void onReopened(Endpoint endpoint, String reason) {
    ObjectNode json = event("reopened");
    json.put("endpoint", endpoint.toString());
    json.put("reason", reason);
    terminal.println(Json.line(json));
  }

  private static ObjectNode event(String name) {
    return Json.object().put("event", name);
  }
}
