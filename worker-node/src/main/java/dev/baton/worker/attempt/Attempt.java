package dev.baton.worker.attempt;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskProgress;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskContext;
import dev.baton.worker.protocol.AttemptId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The handler's view of one attempt, and its cancel signal. Used by several threads. */
final class Attempt implements TaskContext {
  private static final Logger log = LoggerFactory.getLogger(Attempt.class);
  private static final int MAX_PROGRESS_CHARACTERS = 200;

  private final AttemptId id;
  private final TaskAssignment assignment;
  private final LongSupplier nanoTime;
  private final long startNanos;
  private final Consumer<Attempt> onProgress;
  private final AtomicReference<@Nullable TaskProgress> progress = new AtomicReference<>();

  private final Object guard = new Object();
  private final List<Runnable> actions = new ArrayList<>();
  private @Nullable Thread thread;
  private boolean handlerReturned;
  private volatile boolean cancelled;

  Attempt(TaskAssignment assignment, LongSupplier nanoTime, Consumer<Attempt> onProgress) {
    this.id = AttemptId.of(assignment);
    this.assignment = assignment;
    this.nanoTime = nanoTime;
    this.startNanos = nanoTime.getAsLong();
    this.onProgress = onProgress;
  }

  AttemptId id() {
    return id;
  }

  /** The handler is about to be called, on this thread. */
  void enter() {
    synchronized (guard) {
      thread = Thread.currentThread();
      if (cancelled) {
        thread.interrupt();
      }
    }
  }

  /** The handler has returned: no interrupt disturbs what follows on its thread. */
  void leave() {
    synchronized (guard) {
      handlerReturned = true;
      thread = null;
    }
    // An interrupt that came too late for the handler has no addressee.
    boolean ignored = Thread.interrupted();
  }

  /** Raises the cancel signal; never blocks. */
  void signal() {
    List<Runnable> toRun;
    synchronized (guard) {
      if (cancelled || handlerReturned) {
        return;
      }
      cancelled = true;
      toRun = List.copyOf(actions);
      if (thread != null) {
        thread.interrupt();
      }
    }
    if (!toRun.isEmpty()) {
      // Not a virtual thread: handlers that keep the processors busy must not delay a cancel.
      Thread.ofPlatform()
          .daemon()
          .name("baton-cancel " + id)
          .start(() -> toRun.forEach(this::runQuietly));
    }
  }

  /** The newest word that has not been taken. */
  Optional<TaskProgress> takeProgress() {
    return Optional.ofNullable(progress.getAndSet(null));
  }

  long elapsedNanos() {
    return nanoTime.getAsLong() - startNanos;
  }

  @Override
  public String runId() {
    return id.runId();
  }

  @Override
  public String taskId() {
    return id.taskId();
  }

  @Override
  public String taskType() {
    return assignment.getTaskType();
  }

  @Override
  public int attempt() {
    return id.attempt();
  }

  @Override
  public String idempotencyKey() {
    return assignment.getIdempotencyKey();
  }

  @Override
  public Map<String, JsonNode> inputs() {
    Map<String, JsonNode> inputs = new TreeMap<>();
    assignment.getParamsMap().forEach((name, text) -> inputs.put(name, parse(name, text)));
    return inputs;
  }

  @Override
  public Optional<JsonNode> find(String name) {
    String text = assignment.getParamsMap().get(name);
    return text == null ? Optional.empty() : Optional.of(parse(name, text));
  }

  @Override
  public JsonNode input(String name) {
    return find(name)
        .orElseThrow(() ->
            new FatalTaskException(
                "Expected the input '"
                    + name
                    + "', but the task has "
                    + (assignment.getParamsCount() == 0
                        ? "none"
                        : "only " + new TreeSet<>(assignment.getParamsMap().keySet()))
                    + "."));
  }

  @Override
  public <T> T input(String name, Class<T> type) {
    JsonNode node = input(name);
    T value;
    try {
      value = Outcome.JSON.treeToValue(node, type);
    } catch (JsonProcessingException e) {
      throw new FatalTaskException(
          "Expected the input '"
              + name
              + "' to be a "
              + type.getSimpleName()
              + ", but: "
              + e.getOriginalMessage(),
          e);
    }
    if (value == null) {
      throw new FatalTaskException(
          "Expected the input '"
              + name
              + "' to be a "
              + type.getSimpleName()
              + ", but it is null.");
    }
    return value;
  }

  @Override
  public Optional<Duration> remaining() {
    return assignment.getTimeoutMs() <= 0
        ? Optional.empty()
        : Optional.of(Duration.ofMillis(assignment.getTimeoutMs()).minusNanos(elapsedNanos()));
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public void onCancel(Runnable action) {
    synchronized (guard) {
      if (!cancelled) {
        actions.add(action);
        return;
      }
    }
    runQuietly(action);
  }

  @Override
  public void progress(double fraction, String message) {
    TaskProgress word =
        TaskProgress.newBuilder()
            .setAttempt(id.toProto())
            .setFraction(Double.isNaN(fraction) ? 0 : Math.clamp(fraction, 0.0, 1.0))
            .setMessage(Outcome.cutCharacters(message, MAX_PROGRESS_CHARACTERS))
            .build();
    // A handler that talks all the time has one word waiting, not a queue of them.
    if (progress.getAndSet(word) == null) {
      onProgress.accept(this);
    }
  }

  private static JsonNode parse(String name, String text) {
    try {
      return Outcome.JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new FatalTaskException("The input '" + name + "' is not JSON: " + e.getMessage(), e);
    }
  }

  private void runQuietly(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) { // the handler's code: whatever it throws ends here
      log.warn("A cancel action of {} failed", id, e);
    }
  }
}
