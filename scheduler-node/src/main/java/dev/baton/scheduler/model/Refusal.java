package dev.baton.scheduler.model;

import java.time.Duration;

/**
 * A refused call.
 *
 * @param message one sentence for people: what, where, limit, way out
 * @param retryAfter when to try again; zero: no advice
 */
public record Refusal(RefusalCode code, String message, Duration retryAfter) {
  public Refusal(RefusalCode code, String message) {
    this(code, message, Duration.ZERO);
  }
}
