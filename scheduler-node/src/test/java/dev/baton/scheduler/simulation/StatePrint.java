package dev.baton.scheduler.simulation;

import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Run;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A state in a few numbers, one for each part of it: two states that differ in one of them are two
 * states. Within one Java machine only.
 */
record StatePrint(
    long term,
    int meta,
    int specs,
    int runs,
    int waiting,
    int workers,
    int retained,
    int turns,
    int queues) {

  static StatePrint of(ClusterState state) {
    int specs = 1;
    for (var spec : state.specs()) {
      specs = 31 * specs + Objects.hash(spec.number(), spec.hash(), spec.uses(), spec.lastUsed());
    }
    specs = 31 * specs + state.droppedSpecs().hashCode();
    int runs = 1;
    int waiting = 1;
    for (Run run : state.runs()) {
      runs = 31 * runs + run.image().hashCode();
      for (int i = 0; i < run.size(); i++) {
        waiting = 31 * waiting + run.task(i).waitsFor();
      }
    }
    int workers = state.workers().next();
    for (var worker : state.workers().all().entrySet()) {
      // In which order they were assigned is not part of it.
      workers =
          31 * workers
              + Objects.hash(
                  worker.getKey(),
                  worker.getValue(),
                  Set.copyOf(state.workers().running(worker.getValue())));
    }
    int retained = 1;
    for (var row : state.retained().rows()) {
      retained = 31 * retained + row.hashCode();
    }
    return new StatePrint(
        state.term(),
        Objects.hash(
            state.leaderNodeId(),
            state.installedSnapshot(),
            state.historyDropped(),
            state.liveTasks(),
            state.nextDeadline(),
            List.copyOf(state.cordons().all()),
            state.ended().stream().map(Run::number).toList()),
        specs,
        runs,
        waiting,
        workers,
        retained,
        state.ready().turns().hashCode(),
        state.ready().size() + state.ready().delayedSize());
  }

  /** The names of the parts that differ. */
  Set<String> differsIn(StatePrint other) {
    Set<String> parts = new LinkedHashSet<>();
    for (var part : StatePrint.class.getRecordComponents()) {
      try {
        if (!part.getAccessor().invoke(this).equals(part.getAccessor().invoke(other))) {
          parts.add(part.getName());
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
    return parts;
  }

  /** What a state says of its runs, in words. */
  static List<String> words(ClusterState state) {
    List<String> words = new ArrayList<>();
    state.runs().forEach(run -> words.add(run.image().toString()));
    state
        .specs()
        .forEach(
            s -> words.add("spec " + s.number() + " uses " + s.uses() + " last " + s.lastUsed()));
    words.add("dropped specs " + state.droppedSpecs());
    words.add("turns " + state.ready().turns());
    words.add("workers " + state.workers().all());
    words.add("retained " + state.retained().size());
    return words;
  }
}
