package dev.baton.worker;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * One attempt, as its handler sees it. Thread-safe. An interface so that the tests of a handler can
 * bring their own.
 */
public interface TaskContext {
  /** The run's id, a ULID. */
  String runId();

  /** The task's id within its workflow. */
  String taskId();

  /** The task's type: the name under which the handler was registered. */
  String taskType();

  /** From 1; grows with every attempt of the task. */
  int attempt();

  /**
   * The same for all attempts of the task, and for no other task: hand it to whatever you call, so
   * that a second execution has no second effect.
   */
  String idempotencyKey();

  /** All inputs: the task's {@code params}, with their expressions evaluated. */
  Map<String, JsonNode> inputs();

  /** An input, if the task has it. */
  Optional<JsonNode> find(String name);

  /**
   * An input that the handler cannot do without.
   *
   * @throws FatalTaskException if the task does not have it
   */
  JsonNode input(String name);

  /**
   * An input as a Java type: a string, a number, a record, a list...
   *
   * @throws FatalTaskException if the task does not have it, if it is null or of another type
   */
  <T> T input(String name, Class<T> type);

  /** What is left of the attempt's time; negative once it is over; empty if it has no timeout. */
  Optional<Duration> remaining();

  /** The attempt was cancelled, its time is over, or the worker stops: return soon. */
  boolean isCancelled();

  /**
   * Runs {@code action} once when the attempt is cancelled (at once if it is already), on a thread
   * of its own: for work that an interrupt does not reach, such as closing a connection.
   */
  void onCancel(Runnable action);

  /**
   * Tells people how far the attempt is. The newest word is sent once a second; none is kept
   * durably.
   *
   * @param fraction 0 to 1
   * @param message cut after 200 characters
   */
  void progress(double fraction, String message);
}
