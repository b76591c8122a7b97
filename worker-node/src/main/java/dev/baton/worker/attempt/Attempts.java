package dev.baton.worker.attempt;

import dev.baton.coordination.Strand;
import dev.baton.coordination.Strand.Timer;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskProgress;
import dev.baton.proto.v1.TaskResult;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.worker.TaskHandler;
import dev.baton.worker.protocol.AttemptId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * The attempts that run here. Its owner bounds how many.
 *
 * <p>Called on the worker's strand, and calls its listener there; handlers run on virtual threads
 * of their own and come back to the strand. A timeout counts from {@link #start}.
 */
public final class Attempts {
  private static final Logger log = LoggerFactory.getLogger(Attempts.class);

  /** How long a handler may go on after its cancel signal before it is reported without it. */
  static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Map<String, TaskHandler> handlers;
  private final Strand strand;
  private final Listener listener;
  private final AttemptTimers timers;
  private final @Nullable TraceFile trace;
  private final Map<AttemptId, Running> running = new HashMap<>();

  /**
   * @param handlers by task type
   * @param trace where to note starts and ends; null: nowhere
   */
  public Attempts(
      Map<String, TaskHandler> handlers,
      Strand strand,
      Listener listener,
      AttemptTimers timers,
      @Nullable TraceFile trace) {
    this.handlers = Map.copyOf(handlers);
    this.strand = strand;
    this.listener = listener;
    this.timers = timers;
    this.trace = trace;
  }

  /** What becomes of attempts. */
  public interface Listener {
    /** {@code handlerReturned} false: the handler is overdue, {@link #returned} follows. */
    void finished(TaskResult result, boolean handlerReturned);

    /** An overdue handler has returned. */
    void returned(AttemptId id);

    void progress(TaskProgress word);
  }

  /** Starts a handler. */
  public void start(TaskAssignment assignment) {
    Attempt attempt =
        new Attempt(
            assignment,
            strand::nanoTime,
            from -> strand.execute(() -> from.takeProgress().ifPresent(listener::progress)));
    Running entry = new Running(attempt, assignment.getTaskType());
    running.put(attempt.id(), entry);
    if (assignment.getTimeoutMs() > 0) {
      Duration timeout = Duration.ofMillis(assignment.getTimeoutMs());
      entry.timeout =
          strand.schedule(
              timeout,
              () -> stop(entry, Status.TIMEOUT, "timed out after " + timeout.toMillis() + " ms"));
    }
    Thread.ofVirtual().name("attempt " + attempt.id()).start(() -> run(entry));
  }

  /** Tells a handler to stop; one that is unknown, or told already, is left alone. */
  public void cancel(AttemptId id, String reason) {
    Running entry = running.get(id);
    if (entry != null) {
      stop(entry, Status.CANCELLED, reason.isEmpty() ? "cancelled" : "cancelled: " + reason);
    }
  }

  /** Signals all handlers; from now on nothing is reported: the attempts are lost. */
  public void abandon() {
    for (Running entry : List.copyOf(running.values())) {
      entry.abandoned = true;
      entry.attempt.signal();
    }
  }

  /** Handlers that have not returned. */
  public int count() {
    return running.size();
  }

  private void run(Running entry) {
    Attempt attempt = entry.attempt;
    MDC.put("run", attempt.runId());
    MDC.put("task", attempt.taskId());
    MDC.put("attempt", Integer.toString(attempt.attempt()));
    if (trace != null) {
      trace.started(attempt.id());
    }
    Outcome outcome = call(attempt);
    if (trace != null) {
      trace.ended(attempt.id());
    }
    long nanos = attempt.elapsedNanos();
    strand.execute(() -> ended(entry, outcome, nanos));
  }

  /** Nothing that a handler throws, not even an Error, gets past here. */
  private Outcome call(Attempt attempt) {
    try {
      Object value;
      attempt.enter();
      try {
        TaskHandler handler = handlers.get(attempt.taskType());
        if (handler == null) {
          return Outcome.failed(
              "This worker has no handler for the task type '"
                  + attempt.taskType()
                  + "'; it has "
                  + new TreeSet<>(handlers.keySet())
                  + ".",
              false);
        }
        value = handler.handle(attempt);
      } finally {
        attempt.leave();
      }
      return Outcome.returned(value);
    } catch (Throwable e) {
      if (e instanceof Error) {
        log.error("The handler of {} threw an error", attempt.id(), e);
      } else {
        log.debug("The handler of {} failed", attempt.id(), e);
      }
      return Outcome.threw(e);
    }
  }

  private void stop(Running entry, Status status, String reason) {
    if (entry.stoppedAs == null) {
      entry.stoppedAs = status;
      entry.reason = reason;
      entry.overdue = strand.schedule(PATIENCE, () -> overdue(entry));
      entry.attempt.signal();
    }
  }

  private void overdue(Running entry) {
    if (entry.abandoned || entry.stoppedAs == null) {
      return;
    }
    entry.reported = true;
    log.warn(
        "The handler of {} ({}) has not returned {} s after it was told to stop ({}); its slot stays"
            + " in use until it does",
        entry.attempt.id(),
        entry.type,
        PATIENCE.toSeconds(),
        entry.reason);
    Outcome outcome = Outcome.overdue(entry.stoppedAs, entry.reason, PATIENCE.toSeconds());
    report(entry, outcome, entry.attempt.elapsedNanos(), false);
  }

  private void ended(Running entry, Outcome outcome, long nanos) {
    running.remove(entry.attempt.id());
    if (entry.timeout != null) {
      entry.timeout.cancel();
    }
    if (entry.overdue != null) {
      entry.overdue.cancel();
    }
    if (entry.abandoned) {
      return;
    }
    if (entry.reported) {
      listener.returned(entry.attempt.id());
      return;
    }
    // A success that comes after a cancel is a success; one after a timeout came too late.
    boolean judged =
        entry.stoppedAs == Status.TIMEOUT
            || (entry.stoppedAs != null && outcome.status() != Status.SUCCESS);
    report(
        entry,
        judged && entry.stoppedAs != null ? outcome.as(entry.stoppedAs, entry.reason) : outcome,
        nanos,
        true);
  }

  private void report(Running entry, Outcome outcome, long nanos, boolean handlerReturned) {
    timers.record(entry.type, handlers.containsKey(entry.type), outcome.status(), nanos);
    listener.finished(
        TaskResult.newBuilder()
            .setRunId(entry.attempt.runId())
            .setTaskId(entry.attempt.taskId())
            .setAttempt(entry.attempt.attempt())
            .setStatus(outcome.status())
            .setOutputJson(outcome.outputJson())
            .setErrorMessage(outcome.error())
            .setFinal(outcome.isFinal())
            .setDurationMs(nanos / 1_000_000)
            .build(),
        handlerReturned);
  }

  /** Touched on the strand only, but for the attempt itself. */
  private static final class Running {
    final Attempt attempt;
    final String type;
    @Nullable Timer timeout;
    @Nullable Timer overdue;
    @Nullable Status stoppedAs;
    String reason = "";
    boolean reported;
    boolean abandoned;

    Running(Attempt attempt, String type) {
      this.attempt = attempt;
      this.type = type;
    }
  }
}
