package dev.baton.worker.builtin;

import dev.baton.worker.TaskHandler;
import java.util.Map;

/** The built-in handlers by task type. */
public final class BuiltIns {
  /** Runs any command: a worker offers it only when its capabilities name it. */
  public static final String SHELL = "shell";

  private BuiltIns() {}

  /** All but {@link #SHELL}. */
  public static Map<String, TaskHandler> harmless() {
    return Map.of(
        // Returns its inputs.
        "echo", context -> context.inputs(),
        "sleep", new SleepHandler(),
        "text_process", new TextProcessHandler());
  }
}
