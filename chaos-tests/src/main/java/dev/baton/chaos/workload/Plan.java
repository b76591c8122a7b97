package dev.baton.chaos.workload;

import dev.baton.chaos.history.Observation.PlannedTask;
import java.time.Duration;
import java.util.List;

/**
 * A run to be submitted.
 *
 * @param definition of the workflow, JSON
 * @param word of the run, its parameter {@code w}
 * @param keyed submitted twice under one key, as two runs
 * @param cancelAfter zero: not
 */
record Plan(
    String shape,
    String definition,
    String word,
    List<PlannedTask> tasks,
    boolean keyed,
    Duration cancelAfter) {
  Plan {
    tasks = List.copyOf(tasks);
  }
}
