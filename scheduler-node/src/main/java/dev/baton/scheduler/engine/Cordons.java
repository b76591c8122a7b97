package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.WorkerLife;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Workers that an operator took out of service. By their id: it stays over restarts. */
public final class Cordons {
  private final Map<String, Cordon> byWorker = new TreeMap<>();

  Cordons() {}

  /**
   * Why a worker gets nothing new.
   *
   * @param drainedIncarnation the process life that is to end, too; empty: none
   * @param actor who asked; empty: nobody said
   */
  public record Cordon(String workerId, String drainedIncarnation, String actor) {
    /** This very process is to end. */
    public boolean drains(WorkerLife life) {
      return workerId.equals(life.workerId()) && drainedIncarnation.equals(life.incarnation());
    }
  }

  /** Null: the worker is in service. */
  public @Nullable Cordon of(String workerId) {
    return byWorker.get(workerId);
  }

  public boolean has(String workerId) {
    return byWorker.containsKey(workerId);
  }

  /** Whether this process was asked to end. */
  public boolean drains(WorkerLife life) {
    Cordon cordon = byWorker.get(life.workerId());
    return cordon != null && cordon.drains(life);
  }

  /** All, by the worker's id. */
  public Collection<Cordon> all() {
    return Collections.unmodifiableCollection(byWorker.values());
  }

  void put(Cordon cordon) {
    byWorker.put(cordon.workerId(), cordon);
  }

  void remove(String workerId) {
    byWorker.remove(workerId);
  }
}
