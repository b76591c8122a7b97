package dev.baton.worker;

import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of one type. This is what users of Baton implement.
 *
 * <p>One instance serves all attempts, so it must be thread-safe. Each attempt has a virtual thread
 * of its own: block as you like.
 *
 * <p>A task can be executed more than once (its worker was lost, or the attempt failed and is
 * retried), though only one result of it counts. Make effects outside idempotent by {@link
 * TaskContext#idempotencyKey()}.
 *
 * <pre>{@code
 * worker.handler("greet", task -> Map.of("text", "Hello " + task.input("name", String.class)));
 * }</pre>
 */
@FunctionalInterface
public interface TaskHandler {
  /**
   * Does the work of one attempt.
   *
   * <ul>
   *   <li>The value it returns is the task's output: {@code null}, a string, a number, a boolean, a
   *       map, a list, a record, a {@link com.fasterxml.jackson.databind.JsonNode}, or anything
   *       else that Jackson writes; at most 256 KiB as JSON. A string becomes a JSON string.
   *   <li>An exception fails the attempt with its class and message, and the task's retry policy
   *       decides what follows. {@link TaskFailedException} leaves the class out; {@link
   *       FatalTaskException} also ends the retries.
   *   <li>When the attempt is cancelled or its time is over, the thread is interrupted and {@link
   *       TaskContext#isCancelled()} turns true. Return soon: ten seconds later the attempt is
   *       reported without waiting any longer, and its slot stays in use until the handler returns.
   * </ul>
   *
   * @throws Exception whatever made the attempt fail
   */
  @Nullable Object handle(TaskContext context) throws Exception;
}
