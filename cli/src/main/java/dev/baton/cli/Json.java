package dev.baton.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.proto.v1.Attempt;
import dev.baton.proto.v1.AttemptOutcome;
import dev.baton.proto.v1.Node;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.TaskCounts;
import dev.baton.proto.v1.TaskState;
import dev.baton.proto.v1.WaitKind;
import dev.baton.proto.v1.Worker;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code -o json} prints. The names are a contract: a field may be added, never renamed; every
 * field is always there, as null where it has no value. Times are ISO 8601 in UTC, durations
 * milliseconds.
 */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** One document on one line. */
  static String line(JsonNode document) {
    return document.toString();
  }

  /** The value of a {@code --param}: JSON if it is that, else the text itself as a JSON string. */
  static String value(String text) {
    try {
      JsonNode node = MAPPER.readTree(text);
      if (node != null && !node.isMissingNode()) {
        return text;
      }
    } catch (JsonProcessingException e) {
      // Plain text, then.
    }
    return MAPPER.getNodeFactory().textNode(text).toString();
  }

  static ObjectNode run(Run run) {
    ObjectNode json = runWithoutTasks(run);
    ArrayNode tasks = json.putArray("tasks");
    run.getTasksList().forEach(task -> tasks.add(task(task)));
    return json;
  }

  static ObjectNode runWithoutTasks(Run run) {
    ObjectNode json = object();
    json.put("runId", run.getRunId());
    json.put("workflow", run.getWorkflow());
    json.put("version", orNull(run.getWorkflowVersion()));
    json.put("tenant", run.getTenant());
    strings(json.putObject("labels"), run.getLabelsMap());
    json.put("actor", orNull(run.getActor()));
    json.put("key", orNull(run.getKey()));
    json.put("state", state(run.getState()));
    json.put("cancelling", run.getCancelling());
    json.put("createdAt", Times.iso(run.getCreatedAt()));
    json.put("endedAt", Times.iso(run.getEndedAt()));
    json.put("reason", orNull(run.getReason()));
    TaskCounts counts = run.getCounts();
    json.putObject("counts")
        .put("pending", counts.getPending())
        .put("ready", counts.getReady())
        .put("running", counts.getRunning())
        .put("success", counts.getSuccess())
        .put("failed", counts.getFailed())
        .put("timeout", counts.getTimeout())
        .put("cancelled", counts.getCancelled())
        .put("skipped", counts.getSkipped());
    return json;
  }

  static ObjectNode task(Task task) {
    ObjectNode json = object();
    json.put("taskId", task.getTaskId());
    json.put("type", task.getType());
    json.put("state", state(task.getState()));
    ArrayNode dependsOn = json.putArray("dependsOn");
    task.getDependsOnList().forEach(dependsOn::add);
    json.put("priority", task.getPriority());
    json.put("waitKind", waitKind(task.getWaitKind()));
    json.put("waitReason", orNull(task.getWaitReason()));
    json.put("retryAt", Times.iso(task.getRetryAt()));
    json.put("outputBytes", task.getOutputBytes());
    json.put("progress", task.getProgress());
    json.put("progressMessage", orNull(task.getProgressMessage()));
    ArrayNode attempts = json.putArray("attempts");
    task.getAttemptsList().forEach(attempt -> attempts.add(attempt(attempt)));
    return json;
  }

  private static ObjectNode attempt(Attempt attempt) {
    ObjectNode json = object();
    json.put("number", attempt.getNumber());
    json.put("worker", attempt.getWorkerId());
    json.put("startedAt", Times.iso(attempt.getStartedAt()));
    json.put("endedAt", Times.iso(attempt.getEndedAt()));
    json.put("outcome", outcome(attempt.getOutcome()));
    json.put("reason", orNull(attempt.getReason()));
    json.put("durationMs", attempt.getDurationMs());
    return json;
  }

  static ObjectNode worker(Worker worker) {
    ObjectNode json = object();
    json.put("workerId", worker.getWorkerId());
    json.put("incarnation", worker.getIncarnation());
    json.put("address", orNull(worker.getAddress()));
    ArrayNode capabilities = json.putArray("capabilities");
    worker.getCapabilitiesList().forEach(capabilities::add);
    strings(json.putObject("labels"), worker.getLabelsMap());
    json.put("slots", worker.getSlots());
    json.put("slotsUsed", worker.getSlotsUsed());
    json.put("presence", presence(worker.getPresence()));
    json.put("cordoned", worker.getCordoned());
    json.put("cordonedBy", orNull(worker.getCordonedBy()));
    json.put("draining", worker.getDraining());
    json.put("version", orNull(worker.getVersion()));
    return json;
  }

  static ObjectNode node(Node node) {
    ObjectNode json = object();
    json.put("nodeId", node.getNodeId());
    json.put("incarnation", node.getIncarnation());
    json.put("apiAddress", node.getApiAddress());
    json.put("httpAddress", orNull(node.getHttpAddress()));
    json.put("version", orNull(node.getVersion()));
    json.put("leader", node.getLeader());
    json.put("loading", node.getLoading());
    return json;
  }

  static String state(RunState state) {
    return without("RUN_", state.name());
  }

  static String state(TaskState state) {
    return without("TASK_", state.name());
  }

  /** Null: it does not wait. */
  static @Nullable String waitKind(WaitKind kind) {
    return kind == WaitKind.WAIT_KIND_UNSPECIFIED ? null : without("WAIT_", kind.name());
  }

  static String outcome(AttemptOutcome outcome) {
    return outcome == AttemptOutcome.ATTEMPT_OUTCOME_UNSPECIFIED
        ? "RUNNING"
        : without("ATTEMPT_", outcome.name());
  }

  static String presence(Worker.Presence presence) {
    return without("PRESENCE_", presence.name());
  }

  private static String without(String prefix, String name) {
    return name.startsWith(prefix) ? name.substring(prefix.length()) : name;
  }

  private static void strings(ObjectNode into, Map<String, String> from) {
    from.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(entry -> into.put(entry.getKey(), entry.getValue()));
  }

  private static @Nullable String orNull(String text) {
    return text.isEmpty() ? null : text;
  }
}
