package dev.baton.chaos.history;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/** One line of a history. The names of types and fields are a contract: old folders are read. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Observation.Began.class, name = "began"),
  @JsonSubTypes.Type(value = Observation.Planned.class, name = "planned"),
  @JsonSubTypes.Type(value = Observation.Invoked.class, name = "invoked"),
  @JsonSubTypes.Type(value = Observation.Returned.class, name = "returned"),
  @JsonSubTypes.Type(value = Observation.RunRead.class, name = "run"),
  @JsonSubTypes.Type(value = Observation.Injected.class, name = "injected"),
  @JsonSubTypes.Type(value = Observation.Healed.class, name = "healed"),
  @JsonSubTypes.Type(value = Observation.Skipped.class, name = "skipped"),
  @JsonSubTypes.Type(value = Observation.ProcessChanged.class, name = "process"),
  @JsonSubTypes.Type(value = Observation.LeaderChanged.class, name = "leader"),
  @JsonSubTypes.Type(value = Observation.EntryWritten.class, name = "entry"),
  @JsonSubTypes.Type(value = Observation.HeadWritten.class, name = "head"),
  @JsonSubTypes.Type(value = Observation.WatchBroken.class, name = "watch"),
  @JsonSubTypes.Type(value = Observation.Received.class, name = "received"),
  @JsonSubTypes.Type(value = Observation.Started.class, name = "started"),
  @JsonSubTypes.Type(value = Observation.Finished.class, name = "finished"),
  @JsonSubTypes.Type(value = Observation.Witnessed.class, name = "witnessed"),
  @JsonSubTypes.Type(value = Observation.Stalled.class, name = "stalled"),
  @JsonSubTypes.Type(value = Observation.Ended.class, name = "ended")
})
public sealed interface Observation {
  /** When, by the monotonic clock. */
  long nanos();

  /** What a client asks for. */
  enum Kind {
    SUBMIT,
    CANCEL,
    GET
  }

  /** How a client's operation came back. */
  enum Result {
    OK,
    /** Refused: it was not done. */
    FAIL,
    /** Nobody knows, as after a time-out: it was done, or will be, or never. */
    UNKNOWN
  }

  /** When the clock of a fail-over starts. */
  enum Failover {
    /** None is expected. */
    NONE,
    FROM_INJECTION,
    /** The fault takes away what every leader needs. */
    FROM_HEALING
  }

  /** What happened to a process. */
  enum Change {
    STARTED,
    KILLED,
    /** Told to end. */
    TERMINATED,
    STOPPED,
    CONTINUED,
    /** Found dead: it ended as it was told, or by itself. */
    GONE
  }

  /**
   * The first line.
   *
   * @param wallMillis the same moment by the wall clock
   * @param slots of each worker
   */
  record Began(
      long nanos,
      long wallMillis,
      String scenario,
      long seed,
      String environment,
      String version,
      double runsPerSecond,
      int slots)
      implements Observation {}

  /**
   * A task of a planned run.
   *
   * @param expected its output as JSON text; empty: it tells its own random word, which its witness
   *     file has, too
   */
  record PlannedTask(String id, String kind, List<String> dependsOn, String expected) {
    public PlannedTask {
      dependsOn = List.copyOf(dependsOn);
    }
  }

  /**
   * A run that will be submitted.
   *
   * @param key of the user; empty: none
   */
  record Planned(long nanos, String run, String key, String shape, List<PlannedTask> tasks)
      implements Observation {
    public Planned {
      tasks = List.copyOf(tasks);
    }
  }

  /** A client begins an operation. */
  record Invoked(long nanos, long op, Kind kind, String run) implements Observation {}

  /**
   * A client's operation came back.
   *
   * @param run the run that the answer named; empty: no answer
   * @param detail of a failure
   */
  record Returned(long nanos, long op, Result result, String run, String detail)
      implements Observation {}

  /** One attempt as the API tells it. */
  record AttemptRead(int number, String worker, String outcome, String reason) {}

  /**
   * One task as the API tells it.
   *
   * @param output JSON text; empty: none was read
   * @param outputAttempt the attempt that the output is of; 0: none was read
   */
  record TaskRead(
      String id, String state, List<AttemptRead> attempts, String output, int outputAttempt) {
    public TaskRead {
      attempts = List.copyOf(attempts);
    }
  }

  /**
   * A run with its tasks and outputs, read when it had ended, and once more at the very end.
   *
   * @param state of the API; {@link #NOT_FOUND}; {@link #UNREADABLE}: no answer
   */
  record RunRead(long nanos, String run, boolean last, String state, List<TaskRead> tasks)
      implements Observation {
    public static final String NOT_FOUND = "NOT_FOUND";
    public static final String UNREADABLE = "UNREADABLE";
    public static final String RUNNING = "RUN_RUNNING";
    public static final String SUCCESS = "RUN_SUCCESS";
    public static final String CANCELLED = "RUN_CANCELLED";

    public RunRead {
      tasks = List.copyOf(tasks);
    }
  }

  /**
   * A fault begins.
   *
   * @param round from 1
   * @param targets the processes that it hits
   * @param term of the leader at that moment; 0: nobody led
   * @param boundMillis of the fail-over
   */
  record Injected(
      long nanos,
      int round,
      String fault,
      List<String> targets,
      long term,
      Failover failover,
      long boundMillis)
      implements Observation {
    public Injected {
      targets = List.copyOf(targets);
    }
  }

  /** All faults of a round are over, and what they ended was started again. */
  record Healed(long nanos, int round, String fault) implements Observation {}

  /** A fault that this environment can't make. */
  record Skipped(long nanos, String fault, String reason) implements Observation {}

  record ProcessChanged(long nanos, String process, Change change) implements Observation {}

  /**
   * The key {@code leader} as a watch on etcd told it.
   *
   * @param revision of etcd; of a put it is the term
   * @param node empty: the key was deleted
   */
  record LeaderChanged(long nanos, long revision, String node) implements Observation {}

  /** An entry of the journal was put. */
  record EntryWritten(long nanos, long revision, long seq, long term) implements Observation {}

  /** The journal's head was put. */
  record HeadWritten(long nanos, long revision, long seq, long term) implements Observation {}

  /**
   * The watch on etcd failed and went on.
   *
   * @param missed whether revisions may be missing from here on
   */
  record WatchBroken(long nanos, boolean missed, String reason) implements Observation {}

  /** A worker received an assignment of an entry of the journal, from the leader of a term. */
  record Received(
      long nanos, String worker, String run, String task, int attempt, long seq, long term)
      implements Observation {}

  /** A handler starts. */
  record Started(long nanos, String worker, String run, String task, int attempt)
      implements Observation {}

  /** A handler has ended. */
  record Finished(long nanos, String worker, String run, String task, int attempt)
      implements Observation {}

  /**
   * What a command noted in a file of its own.
   *
   * @param nanos when the file was read
   * @param word random, its output as well
   */
  record Witnessed(long nanos, String run, String task, int attempt, String word)
      implements Observation {}

  /** The suite itself stood still until now, as the whole machine did. */
  record Stalled(long nanos, long millis) implements Observation {}

  /** Nothing is observed any more. */
  record Ended(long nanos) implements Observation {}
}
