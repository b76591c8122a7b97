package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.WorkerLife;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The small numbers that stand for workers' process lives, and what each of them is running. A
 * number leaves once no attempt of a live run names it, and is never used again.
 */
public final class WorkerRefs {
  private final Map<Integer, Named> byRef = new TreeMap<>();
  private final Map<WorkerLife, Named> byLife = new HashMap<>();
  private int next = 1;

  WorkerRefs() {}

  private static final class Named {
    final int ref;
    final WorkerLife life;
    final LinkedHashSet<AttemptRef> running = new LinkedHashSet<>();
    int uses;

    Named(int ref, WorkerLife life) {
      this.ref = ref;
      this.life = life;
    }
  }

  /** The number that the next new life gets. */
  public int next() {
    return next;
  }

  public WorkerLife life(int ref) {
    return named(ref).life;
  }

  /** The number of a life; 0: it has none. */
  public int ref(WorkerLife life) {
    Named named = byLife.get(life);
    return named == null ? 0 : named.ref;
  }

  /** What a life is running, oldest assignment first. */
  public Collection<AttemptRef> running(WorkerLife life) {
    Named named = byLife.get(life);
    return named == null ? List.of() : Collections.unmodifiableCollection(named.running);
  }

  /** How many attempts a life is running. */
  public int runningCount(WorkerLife life) {
    Named named = byLife.get(life);
    return named == null ? 0 : named.running.size();
  }

  /** All lives that run something. */
  public List<WorkerLife> busy() {
    List<WorkerLife> busy = new ArrayList<>();
    for (Named named : byRef.values()) {
      if (!named.running.isEmpty()) {
        busy.add(named.life);
      }
    }
    return busy;
  }

  /** All numbers with their lives, in order. */
  public Map<Integer, WorkerLife> all() {
    Map<Integer, WorkerLife> all = new TreeMap<>();
    byRef.forEach((ref, named) -> all.put(ref, named.life));
    return all;
  }

  void name(int ref, WorkerLife life) {
    Named named = new Named(ref, life);
    byRef.put(ref, named);
    byLife.put(life, named);
    next = Math.max(next, ref + 1);
  }

  void restoreNext(int next) {
    this.next = next;
  }

  void use(int ref) {
    named(ref).uses++;
  }

  void release(int ref) {
    Named named = named(ref);
    named.uses--;
    if (named.uses == 0) {
      byRef.remove(ref);
      byLife.remove(named.life);
    }
  }

  void start(int ref, AttemptRef attempt) {
    named(ref).running.add(attempt);
  }

  void end(int ref, AttemptRef attempt) {
    named(ref).running.remove(attempt);
  }

  private Named named(int ref) {
    @Nullable Named named = byRef.get(ref);
    if (named == null) {
      throw new IllegalStateException(
          "Expected a worker with number " + ref + ", but there is none");
    }
    return named;
  }
}
