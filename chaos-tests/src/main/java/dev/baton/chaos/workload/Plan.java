package dev.baton.chaos.workload;

import dev.baton.chaos.history.Observation.PlannedTask;
import java.time.Duration;
import java.util.List;

/**
 * A run to be submitted.
 *
 * @param definition of the workflow, JSON
 * @param keyed submitted twice under one key, as two runs
 * @param cancelAfter zero: not
 */
record Plan(
    String shape, String definition, List<PlannedTask> tasks, boolean keyed, Duration cancelAfter) {
  Plan {
    tasks = List.copyOf(tasks);
  }
}
