package dev.baton.scheduler.simulation;

import dev.baton.coordination.Strand;
import dev.baton.coordination.simulation.SimulatedStrand;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.worker.protocol.AttemptId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The handlers that run in one life of a worker: quick, slow, failing, or deaf to their cancel
 * signal. Timeouts and the patience with the deaf are those of the worker's own attempts.
 */
final class Handlers {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int LONG_OUTPUT = 2_500;

  private final SimulatedStrand strand;
  private final RandomGenerator random;
  private final Conditions conditions;
  private final boolean keepsTime;
  private final BiConsumer<TaskResult, Boolean> finished;
  private final Consumer<AttemptId> returned;
  private final Map<AttemptId, Running> running = new LinkedHashMap<>();

  /** A handler that has not returned. */
  private static final class Running {
    final AttemptId id;
    final long startNanos;
    Strand.@Nullable Timer end;
    Strand.@Nullable Timer timeout;
    Strand.@Nullable Timer overdue;
    @Nullable Status stoppedAs;
    boolean deaf;
    boolean reported;

    Running(AttemptId id, long startNanos) {
      this.id = id;
      this.startNanos = startNanos;
    }
  }

  /**
   * @param keepsTime whether timeouts are kept, as every worker should
   * @param finished a result, and whether the handler has returned
   * @param returned an overdue handler has returned
   */
  Handlers(
      SimulatedStrand strand,
      RandomGenerator random,
      Conditions conditions,
      boolean keepsTime,
      BiConsumer<TaskResult, Boolean> finished,
      Consumer<AttemptId> returned) {
    this.strand = strand;
    this.random = random;
    this.conditions = conditions;
    this.keepsTime = keepsTime;
    this.finished = finished;
    this.returned = returned;
  }

  int count() {
    return running.size();
  }

  void start(TaskAssignment assignment) {
    Running entry = new Running(AttemptId.of(assignment), strand.nanoTime());
    running.put(entry.id, entry);
    entry.deaf = !conditions.isCalm() && random.nextInt(15) == 0;
    entry.end = strand.schedule(duration(), () -> end(entry, drawStatus()));
    if (assignment.getTimeoutMs() > 0 && keepsTime) {
      entry.timeout =
          strand.schedule(
              Duration.ofMillis(assignment.getTimeoutMs()), () -> stop(entry, Status.TIMEOUT));
    }
  }

  private Duration duration() {
    int kind = random.nextInt(20);
    if (kind == 1 && !conditions.isCalm()) {
      // Longer than a lease: its worker may be lost, come back, and still be at it.
      return Duration.ofMillis(15_000 + random.nextInt(30_000));
    }
    if (kind == 0) {
      return Duration.ofMillis(2_000 + random.nextInt(conditions.isCalm() ? 1_000 : 18_000));
    }
    return Duration.ofMillis(1 + random.nextInt(kind < 6 ? 1_500 : 150));
  }

  private Status drawStatus() {
    return random.nextInt(8) == 0 ? Status.FAILED : Status.SUCCESS;
  }

  void cancel(AttemptId id) {
    Running entry = running.get(id);
    if (entry != null) {
      stop(entry, Status.CANCELLED);
    }
  }

  private void stop(Running entry, Status as) {
    if (entry.stoppedAs != null) {
      return;
    }
    entry.stoppedAs = as;
    entry.overdue = strand.schedule(PATIENCE, () -> overdue(entry));
    if (!entry.deaf) {
      if (entry.end != null) {
        entry.end.cancel();
      }
      Status status = random.nextInt(6) == 0 ? Status.SUCCESS : Status.FAILED;
      entry.end = strand.schedule(Duration.ofMillis(random.nextInt(40)), () -> end(entry, status));
    }
  }

  private void overdue(Running entry) {
    Status as = entry.stoppedAs;
    if (as != null && !entry.reported) {
      entry.reported = true;
      finished.accept(result(entry, as), false);
    }
  }

  private void end(Running entry, Status status) {
    running.remove(entry.id);
    if (entry.timeout != null) {
      entry.timeout.cancel();
    }
    if (entry.overdue != null) {
      entry.overdue.cancel();
    }
    if (entry.reported) {
      returned.accept(entry.id);
      return;
    }
    Status stoppedAs = entry.stoppedAs;
    boolean counts = stoppedAs == Status.TIMEOUT || status != Status.SUCCESS;
    finished.accept(result(entry, stoppedAs != null && counts ? stoppedAs : status), true);
  }

  private TaskResult result(Running entry, Status status) {
    TaskResult.Builder result =
        TaskResult.newBuilder()
            .setRunId(entry.id.runId())
            .setTaskId(entry.id.taskId())
            .setAttempt(entry.id.attempt())
            .setStatus(status)
            .setDurationMs((strand.nanoTime() - entry.startNanos) / 1_000_000);
    if (status == Status.SUCCESS) {
      result.setOutputJson(output(entry.id));
    } else {
      result.setErrorMessage("it " + status).setFinal(random.nextInt(8) == 0);
    }
    return result.build();
  }

  private String output(AttemptId id) {
    String padding = random.nextInt(12) == 0 ? "x".repeat(LONG_OUTPUT) : "";
    return "{\"by\":\"%s %d\",\"padding\":\"%s\"}".formatted(id, random.nextInt(1_000), padding);
  }
}
