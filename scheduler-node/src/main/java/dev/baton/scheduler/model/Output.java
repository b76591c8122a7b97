package dev.baton.scheduler.model;

/** What a task that succeeded gave back. */
public sealed interface Output {
  /** Nothing: JSON null. */
  Output NONE = new None();

  /** Nothing was given back, or the task has not succeeded. */
  record None() implements Output {}

  /** A short JSON text, kept in the state. */
  record Inline(String json) implements Output {}

  /** A long one, kept in etcd under the attempt's name; {@code sizeBytes} of UTF-8. */
  record Stored(int sizeBytes) implements Output {}
}
