package dev.baton.worker.builtin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** An attempt as a test wants it. */
final class FakeContext implements TaskContext {
  static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, JsonNode> inputs = new TreeMap<>();
  private final List<Runnable> actions = new CopyOnWriteArrayList<>();
  private volatile boolean cancelled;

  /** Inputs as names and values, in turn. */
  static FakeContext with(Object... namesAndValues) {
    FakeContext context = new FakeContext();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      context.inputs.put((String) namesAndValues[i], JSON.valueToTree(namesAndValues[i + 1]));
    }
    return context;
  }

  void cancel() {
    cancelled = true;
    actions.forEach(Runnable::run);
  }

  @Override
  public String runId() {
    return "01J00000000000000000000RUN";
  }

  @Override
  public String taskId() {
    return "task";
  }

  @Override
  public String taskType() {
    return "test";
  }

  @Override
  public int attempt() {
    return 2;
  }

  @Override
  public String idempotencyKey() {
    return runId() + "/" + taskId();
  }

  @Override
  public Map<String, JsonNode> inputs() {
    return inputs;
  }

  @Override
  public Optional<JsonNode> find(String name) {
    return Optional.ofNullable(inputs.get(name));
  }

  @Override
  public JsonNode input(String name) {
    return find(name).orElseThrow(() -> new FatalTaskException("no input " + name));
  }

  @Override
  public <T> T input(String name, Class<T> type) {
    try {
      return JSON.treeToValue(input(name), type);
    } catch (JsonProcessingException e) {
      throw new FatalTaskException(name, e);
    }
  }

  @Override
  public Optional<Duration> remaining() {
    return Optional.empty();
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public void onCancel(Runnable action) {
    actions.add(action);
  }

  @Override
  public void progress(double fraction, String message) {}
}
