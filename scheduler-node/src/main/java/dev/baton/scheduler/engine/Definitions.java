package dev.baton.scheduler.engine;

import dev.baton.workflow.Workflow;
import java.util.HashMap;
import java.util.Map;

/**
 * The definitions that the journal names by number. Whoever applies an event that names one has put
 * it here before: the engine reads nothing.
 */
public final class Definitions {
  private final Map<Long, Workflow> byNumber = new HashMap<>();

  public void put(long number, Workflow workflow) {
    byNumber.put(number, workflow);
  }

  public boolean contains(long number) {
    return byNumber.containsKey(number);
  }

  Workflow get(long number) {
    Workflow workflow = byNumber.get(number);
    if (workflow == null) {
      throw new IllegalStateException("Expected definition " + number + ", but it was not read");
    }
    return workflow;
  }

  void remove(long number) {
    byNumber.remove(number);
  }
}
