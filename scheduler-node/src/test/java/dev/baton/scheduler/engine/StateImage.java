package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.baton.scheduler.engine.ReadyQueues.ReadyTask;
import dev.baton.scheduler.engine.ReadyQueues.Turn;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.TaskSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All that a state says, and in which order it would give its tasks out: two states to compare. */
record StateImage(
    long term,
    long installedSnapshot,
    long historyDropped,
    int liveTasks,
    long nextDeadline,
    int nextWorkerRef,
    List<List<Object>> specs,
    List<RunImage> runs,
    List<List<Integer>> waits,
    List<RunId> ended,
    Map<Integer, WorkerLife> workers,
    Map<Integer, Set<AttemptRef>> running,
    List<Retained.Row> retained,
    List<Event.WorkerCordoned> cordons,
    Map<String, Turn> turns,
    Map<String, List<ReadyTask>> readyOrder,
    int delayed,
    long nextDue) {

  /** The order of the ready tasks is found by draining; everything is put back. */
  static StateImage of(ClusterState state, long now) {
    List<List<Object>> specs = new ArrayList<>();
    state.specs().forEach(s -> specs.add(List.of(s.number(), s.hash(), s.uses(), s.lastUsed())));
    List<List<Integer>> waits = new ArrayList<>();
    for (Run run : state.runs()) {
      List<Integer> ofRun = new ArrayList<>();
      for (int i = 0; i < run.size(); i++) {
        ofRun.add(run.task(i).waitsFor());
      }
      waits.add(ofRun);
    }
    Map<Integer, Set<AttemptRef>> running = new TreeMap<>();
    state
        .workers()
        .all()
        .forEach((ref, life) -> running.put(ref, new HashSet<>(state.workers().running(life))));
    List<Retained.Row> retained = new ArrayList<>();
    state.retained().rows().forEach(retained::add);
    state.ready().promote(now);
    return new StateImage(
        state.term(),
        state.installedSnapshot(),
        state.historyDropped(),
        state.liveTasks(),
        state.nextDeadline(),
        state.workers().next(),
        specs,
        state.runs().stream().map(Run::image).toList(),
        waits,
        state.ended().stream().map(Run::id).toList(),
        state.workers().all(),
        running,
        retained,
        List.copyOf(state.cordons().all()),
        state.ready().turns(),
        drain(state),
        state.ready().delayedSize(),
        state.ready().nextDue());
  }

  private static Map<String, List<ReadyTask>> drain(ClusterState state) {
    ReadyQueues ready = state.ready();
    Map<String, List<ReadyTask>> orders = new HashMap<>();
    for (String type : List.copyOf(ready.types())) {
      @Nullable Turn turn = ready.turns().get(type);
      List<ReadyTask> order = new ArrayList<>();
      for (ReadyTask next = ready.next(type); next != null; next = ready.next(type)) {
        order.add(next);
        TaskSpec spec = spec(state, next);
        ready.remove(type, spec.priority(), next, 0);
        ready.assigned(type, spec.priority());
      }
      order.forEach(task -> ready.add(type, spec(state, task).priority(), task, 0));
      ready.restoreTurn(type, turn == null ? new Turn(0, 0) : turn);
      orders.put(type, order);
    }
    return orders;
  }

  private static TaskSpec spec(ClusterState state, ReadyTask task) {
    return Objects.requireNonNull(state.run(task.run())).workflow().task(task.task());
  }

  /** What a node that loads would have. */
  static ClusterState restored(ClusterState live, long generation) {
    Definitions definitions = new Definitions();
    live.specs().forEach(spec -> definitions.put(spec.number(), spec.workflow()));
    return restored(live, generation, definitions);
  }

  static ClusterState restored(ClusterState live, long generation, Definitions definitions) {
    ClusterState loaded = new ClusterState(generation, definitions);
    loaded.restoreMeta(
        live.term(),
        live.leaderNodeId(),
        live.workers().next(),
        live.installedSnapshot(),
        live.historyDropped());
    live.ready().turns().forEach(loaded::restoreTurn);
    live.specs().forEach(s -> loaded.restoreSpec(s.number(), s.hash(), s.lastUsed()));
    live.workers()
        .all()
        .forEach((ref, life) -> loaded.restoreWorker(new Event.WorkerNamed(ref, life)));
    live.runs().forEach(run -> loaded.restoreRun(run.image()));
    live.retained().rows().forEach(loaded::restoreRetained);
    live.cordons().all().forEach(loaded::restoreCordon);
    return loaded;
  }

  static void assertLoadEqualsLive(ClusterState live, long generation, long now) {
    assertSame(of(live, now), of(restored(live, generation), now));
  }

  /** Like equals, but says which part differs. */
  static void assertSame(StateImage expected, StateImage actual) {
    if (expected.equals(actual)) {
      return;
    }
    for (var part : StateImage.class.getRecordComponents()) {
      try {
        assertEquals(
            part.getAccessor().invoke(expected), part.getAccessor().invoke(actual), part.getName());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
