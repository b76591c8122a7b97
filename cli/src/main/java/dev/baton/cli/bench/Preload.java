package dev.baton.cli.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * What fills the memory of the schedulers before the load begins: runs that stand still. In each
 * ten tasks sleep, and all others wait for one of them.
 */
final class Preload {
  static final int TASKS_PER_RUN = 10_000;
  static final int RUNNING_PER_RUN = 10;

  private Preload() {}

  /** Definitions that together have so many tasks. */
  static List<String> definitions(int tasks) {
    List<String> definitions = new ArrayList<>();
    for (int rest = tasks; rest > 0; rest -= TASKS_PER_RUN) {
      definitions.add(definition(Math.min(rest, TASKS_PER_RUN)));
    }
    return definitions;
  }

  private static String definition(int tasks) {
    StringBuilder text = new StringBuilder("name: preload\ntasks:\n");
    for (int i = 0; i < tasks; i++) {
      if (i < RUNNING_PER_RUN) {
        text.append("- {id: s").append(i).append(", type: sleep, params: {duration: 24h}}\n");
      } else {
        text.append("- {id: t").append(i).append(", type: echo, dependsOn: [s");
        text.append(i % RUNNING_PER_RUN).append("]}\n");
      }
    }
    return text.toString();
  }

  /** Attempts that run as long as the benchmark does: they keep slots in use. */
  static int running(int tasks) {
    return definitions(tasks).size() * RUNNING_PER_RUN;
  }
}
