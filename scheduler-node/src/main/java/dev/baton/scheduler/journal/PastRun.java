package dev.baton.scheduler.journal;

import dev.baton.proto.journal.v1.AttemptRecord;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.proto.journal.v1.TaskRecord;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A run that has left the state, as the history tells it. */
public final class PastRun {
  private final RunRecord record;

  PastRun(RunRecord record) {
    this.record = record;
  }

  /** A task of it, by its index in the definition. */
  public final class Task {
    private final TaskRecord record;

    private Task(TaskRecord record) {
      this.record = record;
    }

    public String id() {
      return record.getTaskId();
    }

    public String type() {
      return record.getType();
    }

    public TaskStatus status() {
      return RunCodec.taskStatus(record.getState());
    }

    public int priority() {
      return record.getPriority();
    }

    /** Ids of the tasks that it waited for. */
    public List<String> dependsOn() {
      return record.getDependsOnList().stream()
          .map(before -> PastRun.this.record.getTasks(before).getTaskId())
          .toList();
    }

    public Output output() {
      return EventCodec.output(record.getOutput(), record.getStoredOutputSize());
    }

    /** Oldest first. */
    public List<Attempt> attempts() {
      return record.getAttemptsList().stream().map(Attempt::new).toList();
    }

    /** The highest attempt number; 0: it never started. */
    public int lastNumber() {
      int attempts = record.getAttemptsCount();
      return attempts == 0 ? 0 : record.getAttempts(attempts - 1).getNumber();
    }
  }

  /** An attempt at a task. Times are ms since 1970 UTC. */
  public static final class Attempt {
    private final AttemptRecord record;

    private Attempt(AttemptRecord record) {
      this.record = record;
    }

    public int number() {
      return record.getNumber();
    }

    public String workerId() {
      return record.getWorkerId();
    }

    public long startedAt() {
      return record.getStartedAt();
    }

    public long endedAt() {
      return record.getEndedAt();
    }

    /** Null: it had not ended when the run did. */
    public @Nullable Outcome outcome() {
      return record.getOutcomeValue() == 0 ? null : EventCodec.decode(record.getOutcome());
    }

    public String reason() {
      return record.getReason();
    }

    public int durationMs() {
      return record.getDurationMs();
    }
  }

  public RunId id() {
    return EventCodec.runId(record.getRunId());
  }

  public long number() {
    return record.getNumber();
  }

  public String workflow() {
    return record.getWorkflow();
  }

  public String workflowVersion() {
    return record.getWorkflowVersion();
  }

  public String tenant() {
    return record.getTenant();
  }

  public Map<String, String> labels() {
    return record.getLabelsMap();
  }

  public String actor() {
    return record.getActor();
  }

  /** The idempotency key; empty: none was given. */
  public String key() {
    return record.getKey();
  }

  public RunStatus status() {
    return RunCodec.runStatus(record.getState());
  }

  public long createdAt() {
    return record.getCreatedAt();
  }

  public long endedAt() {
    return record.getEndedAt();
  }

  public String reason() {
    return record.getReason();
  }

  /** How many tasks stand where; known of a long run without its tasks too. */
  public Map<TaskStatus, Integer> counts() {
    Map<TaskStatus, Integer> counts = new EnumMap<>(TaskStatus.class);
    record
        .getTaskCountsMap()
        .forEach((state, tasks) -> counts.merge(RunCodec.taskStatus(state), tasks, Integer::sum));
    for (TaskRecord task : record.getTasksList()) {
      counts.merge(RunCodec.taskStatus(task.getState()), 1, Integer::sum);
    }
    return counts;
  }

  /** In the order of the definition; none: they were not read. */
  public List<Task> tasks() {
    return record.getTasksList().stream().map(Task::new).toList();
  }
}
