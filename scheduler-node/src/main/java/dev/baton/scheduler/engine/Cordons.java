package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Event.WorkerCordoned;
import dev.baton.scheduler.model.WorkerLife;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Workers that an operator took out of service. By their id: it stays over restarts. */
public final class Cordons {
  private final Map<String, WorkerCordoned> byWorker = new TreeMap<>();

  Cordons() {}

  /** Null: the worker is in service. */
  public @Nullable WorkerCordoned of(String workerId) {
    return byWorker.get(workerId);
  }

  public boolean has(String workerId) {
    return byWorker.containsKey(workerId);
  }

  /** Whether this very process was asked to end. */
  public boolean drains(WorkerLife life) {
    WorkerCordoned cordon = byWorker.get(life.workerId());
    return cordon != null && cordon.drainedIncarnation().equals(life.incarnation());
  }

  /** All, by the worker's id. */
  public Collection<WorkerCordoned> all() {
    return Collections.unmodifiableCollection(byWorker.values());
  }

  void put(WorkerCordoned cordon) {
    byWorker.put(cordon.workerId(), cordon);
  }

  void remove(String workerId) {
    byWorker.remove(workerId);
  }
}
