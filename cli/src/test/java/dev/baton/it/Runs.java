package dev.baton.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.client.BatonClient;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.Task;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What tests ask of runs. */
final class Runs {
  /** For a call with all its repetitions: longer than any fail-over. */
  static final Duration CALL = Duration.ofSeconds(60);

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).build();

  private Runs() {}

  static String submit(BatonClient client, Flow flow) {
    return client.submit(flow.request()).getRunId();
  }

  /** The run with its tasks, as it is. */
  static Run get(BatonClient client, String runId) {
    return client.get(GetRunRequest.newBuilder().setRunId(runId).build()).getRun();
  }

  /** The run without its tasks, as it is. */
  static Run summary(BatonClient client, String runId) {
    return client
        .get(GetRunRequest.newBuilder().setRunId(runId).setSummaryOnly(true).build())
        .getRun();
  }

  /** Waits until the run has ended; returns it with its tasks. */
  static Run awaitEnd(BatonClient client, String runId) {
    try {
      client
          .watch(runId, change -> {})
          .ended()
          .get(2 * TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      return get(client, runId);
    } catch (ExecutionException e) {
      throw new AssertionError("The run " + runId + " could not be followed.", e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("The run has not ended: " + get(client, runId).getCounts(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static Task task(Run run, String id) {
    return run.getTasksList().stream()
        .filter(task -> task.getTaskId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  /** The JSON text of a task's output. */
  static String output(BatonClient client, String runId, String taskId) {
    return client
        .getOutput(GetOutputRequest.newBuilder().setRunId(runId).setTaskId(taskId).build())
        .getOutputJson();
  }

  /** A JSON text with the fields of its objects in the order of their names. */
  static String sorted(String json) {
    try {
      return JSON.writeValueAsString(JSON.readValue(json, Object.class));
    } catch (JsonProcessingException e) {
      throw new AssertionError("This is no JSON: " + json, e);
    }
  }
}
