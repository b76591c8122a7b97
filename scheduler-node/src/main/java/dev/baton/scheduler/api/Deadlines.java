package dev.baton.scheduler.api;

import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** How long the call that is being served may still take. */
final class Deadlines {
  /** For a call that came without one. */
  static final Duration DEFAULT = Duration.ofSeconds(30);

  private Deadlines() {}

  static Duration remaining() {
    Deadline deadline = Context.current().getDeadline();
    return deadline == null
        ? DEFAULT
        : Duration.ofNanos(Math.max(0, deadline.timeRemaining(TimeUnit.NANOSECONDS)));
  }
}
