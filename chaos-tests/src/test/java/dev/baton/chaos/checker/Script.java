package dev.baton.chaos.checker;

import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.AttemptRead;
import dev.baton.chaos.history.Observation.Began;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.Ended;
import dev.baton.chaos.history.Observation.EntryWritten;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.history.Observation.Finished;
import dev.baton.chaos.history.Observation.Healed;
import dev.baton.chaos.history.Observation.Injected;
import dev.baton.chaos.history.Observation.Invoked;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.PlannedTask;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.chaos.history.Observation.Received;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.Started;
import dev.baton.chaos.history.Observation.TaskRead;
import java.util.ArrayList;
import java.util.List;

/** A history that is written by hand; moments are milliseconds. */
final class Script {
  static final int SLOTS = 2;

  private final List<Observation> all = new ArrayList<>();
  private long ops;

  Script() {
    all.add(new Began(0, 0, "script", 1, "none", "test", 10, SLOTS));
  }

  static long at(long millis) {
    return millis * 1_000_000;
  }

  Script add(Observation observation) {
    all.add(observation);
    return this;
  }

  /** A run of tasks {@code a}, or {@code b<a}: b after a. Each echoes its own name. */
  Script plan(long millis, String run, String key, String... tasks) {
    List<PlannedTask> planned = new ArrayList<>();
    for (String task : tasks) {
      String[] parts = task.split("<", -1);
      List<String> before = parts.length == 1 ? List.of() : List.of(parts[1]);
      planned.add(new PlannedTask(parts[0], "echo", before, "{\"is\":\"" + parts[0] + "\"}"));
    }
    return add(new Planned(at(millis), run, key, "script", planned));
  }

  Script submit(long millis, String run, Result result, String answered) {
    long op = ++ops;
    return add(new Invoked(at(millis), op, Kind.SUBMIT, run))
        .add(new Returned(at(millis + 1), op, result, answered, ""));
  }

  /** A run of one task that was submitted and acknowledged. */
  Script committed(long millis, String run, String... tasks) {
    return plan(millis, run, "", tasks).submit(millis, run, Result.OK, run);
  }

  Script operations(long millis, int count) {
    for (int i = 0; i < count; i++) {
      add(new Invoked(at(millis), ++ops, Kind.GET, "r"));
    }
    return this;
  }

  Script ran(String worker, String run, String task, int attempt, long from, long to) {
    add(new Started(at(from), worker, run, task, attempt));
    return to < 0 ? this : add(new Finished(at(to), worker, run, task, attempt));
  }

  Script killed(long millis, String process) {
    return add(new ProcessChanged(at(millis), process, Change.KILLED));
  }

  Script read(long millis, String run, boolean last, String state, TaskRead... tasks) {
    return add(new RunRead(at(millis), run, last, state, List.of(tasks)));
  }

  /** A task that succeeded by its newest attempt. */
  static TaskRead succeeded(String task, AttemptRead... attempts) {
    return new TaskRead(
        task,
        "TASK_SUCCESS",
        List.of(attempts),
        "{\"is\":\"" + task + "\"}",
        attempts[attempts.length - 1].number());
  }

  static AttemptRead attempt(int number, String worker, String outcome) {
    return new AttemptRead(number, worker, "ATTEMPT_" + outcome, "");
  }

  Script leader(long millis, long revision, String node) {
    return add(new LeaderChanged(at(millis), revision, node));
  }

  Script entry(long millis, long revision, long seq, long term) {
    return add(new EntryWritten(at(millis), revision, seq, term));
  }

  Script received(long millis, long seq, long term) {
    return add(new Received(at(millis), "w1", "r", "a", 1, seq, term));
  }

  Script inject(long millis, int round, String target, long term, long boundMillis) {
    Failover failover = boundMillis == 0 ? Failover.NONE : Failover.FROM_INJECTION;
    return add(
        new Injected(at(millis), round, "fault", List.of(target), term, failover, boundMillis));
  }

  Script heal(long millis, int round) {
    return add(new Healed(at(millis), round, "fault"));
  }

  History end(long millis) {
    return History.of(add(new Ended(at(millis))).all);
  }
}
