package dev.baton.scheduler.model;

/** The parameters of a run: one JSON object. */
public sealed interface RunParams {
  /** No parameters. */
  RunParams NONE = new Inline("");

  /** A short JSON text, kept in the state; empty stands for no parameters. */
  record Inline(String json) implements RunParams {}

  /** A long one, kept in etcd under the run's id and a nonce; {@code sizeBytes} of UTF-8. */
  record Stored(long nonce, int sizeBytes) implements RunParams {}
}
