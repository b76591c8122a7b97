package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.WorkerLife;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A decision of many events in the making. All of them are decided on the state before the first is
 * applied; what one changes for the next is kept here.
 */
final class Draft {
  private final List<Event> events = new ArrayList<>();
  private final List<Effect> effects = new ArrayList<>();
  private final Set<Long> stopped = new HashSet<>();

  void add(Event event) {
    events.add(event);
  }

  void add(Effect effect) {
    effects.add(effect);
  }

  void add(Decision decision) {
    events.addAll(decision.events());
    effects.addAll(decision.effects());
  }

  /** False if an event before has stopped this run. */
  boolean stops(Run run) {
    return stopped.add(run.number());
  }

  /** The number that stands for a worker's life; a new one is named by an event. */
  int refOf(WorkerLife life, WorkerRefs refs) {
    int ref = refs.ref(life);
    if (ref != 0) {
      return ref;
    }
    ref = refs.next();
    for (Event event : events) {
      if (event instanceof Event.WorkerNamed named) {
        if (named.life().equals(life)) {
          return named.ref();
        }
        ref = named.ref() + 1;
      }
    }
    add(new Event.WorkerNamed(ref, life));
    return ref;
  }

  Decision decision() {
    return events.isEmpty() && effects.isEmpty() ? Decision.NOTHING : new Decision(events, effects);
  }
}
