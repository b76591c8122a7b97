package dev.baton.worker.attempt;

import dev.baton.proto.v1.TaskResult.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The histogram {@code workflow.task.duration} by task type and status. */
public final class AttemptTimers {
  private static final Duration[] BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
    Duration.ofSeconds(10),
    Duration.ofSeconds(30),
    Duration.ofMinutes(1),
    Duration.ofMinutes(5),
    Duration.ofMinutes(15),
    Duration.ofHours(1)
  };

  private final MeterRegistry registry;
  private final Map<Series, Timer> timers = new ConcurrentHashMap<>();

  public AttemptTimers(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Types that have no handler share one tag: its values stay bounded. */
  void record(String type, boolean known, Status status, long nanos) {
    timers
        .computeIfAbsent(new Series(known ? type : "unknown", status), this::timer)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(Series series) {
    return Timer.builder("workflow.task.duration")
        .description("Time from the start of an attempt to the end of its handler")
        .tag("task_type", series.type())
        .tag("status", series.status().name())
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }

  private record Series(String type, Status status) {}
}
