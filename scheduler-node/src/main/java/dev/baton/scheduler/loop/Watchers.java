package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.model.AttemptName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who follows which run. A change is rendered when its entry closes, and told once that is durable.
 * Soft, and of this node only.
 */
final class Watchers {
  private static final Logger LOG = LoggerFactory.getLogger(Watchers.class);
  private static final int CAPACITY = 10_000;
  private static final int MAX_PROGRESS = 10_000;

  private final Map<Long, List<RunWatcher>> byRun = new HashMap<>();
  private int count;
  private final Set<Long> touched = new HashSet<>();
  private final LinkedHashMap<AttemptName, WorkerReport.Progress> progress = new LinkedHashMap<>();

  boolean areFull() {
    return count >= CAPACITY;
  }

  void add(long run, RunWatcher watcher) {
    byRun.computeIfAbsent(run, r -> new ArrayList<>()).add(watcher);
    count++;
  }

  void remove(long run, RunWatcher watcher) {
    List<RunWatcher> watchers = byRun.get(run);
    if (watchers != null && watchers.remove(watcher)) {
      count--;
      if (watchers.isEmpty()) {
        byRun.remove(run);
      }
    }
  }

  /** An event has become part of the state: whoever follows its run hears of it. */
  void touch(Event event) {
    switch (event) {
      case Event.AttemptAssigned e -> touch(e.attempt().run());
      case Event.AttemptAdopted e -> touch(e.attempt().run());
      case Event.AttemptEnded e -> touch(e.attempt().run());
      case Event.RunCancelled e -> touch(e.run());
      case Event.RunTimedOut e -> touch(e.run());
      case Event.RunCreated e -> touch(e.number());
      case Event.RunRetired e -> touch(e.run());
      case Event.TermOpened e -> {}
      case Event.SpecAdded e -> {}
      case Event.SpecDropped e -> {}
      case Event.WorkerNamed e -> {}
      case Event.HistoryDropped e -> {}
      case Event.SnapshotInstalled e -> {}
      case Event.WorkerCordoned e -> {}
      case Event.WorkerUncordoned e -> {}
    }
  }

  private void touch(long run) {
    if (byRun.containsKey(run)) {
      touched.add(run);
    }
  }

  void onProgress(WorkerReport.Progress said) {
    progress.remove(said.name());
    progress.put(said.name(), said);
    if (progress.size() > MAX_PROGRESS) {
      progress.pollFirstEntry();
    }
  }

  Map<AttemptName, WorkerReport.Progress> progress() {
    return progress;
  }

  boolean areTouched() {
    return !touched.isEmpty();
  }

  /** Renders what has changed and hands it to {@code release}. */
  void emit(ReadView view, long term, Consumer<Runnable> release) {
    for (long number : touched) {
      Run run = view.state().run(number);
      for (RunWatcher watcher : List.copyOf(byRun.getOrDefault(number, List.of()))) {
        if (watcher.isOver()) {
          remove(number, watcher);
        } else if (run == null) {
          // It ended and left within one entry: who asks again finds it in the history.
          remove(number, watcher);
          release.accept(watcher::gone);
        } else {
          tell(watcher, run, view, term, release);
        }
      }
    }
    touched.clear();
  }

  private void tell(
      RunWatcher watcher, Run run, ReadView view, long term, Consumer<Runnable> release) {
    Runnable change;
    try {
      change = watcher.changed(run, view, term, view.state().leaderNodeId());
    } catch (RuntimeException e) {
      LOG.error("A change of run {} could not be rendered", run.id(), e);
      remove(run.number(), watcher);
      release.accept(watcher::gone);
      return;
    }
    release.accept(change);
    if (run.status().isTerminal()) {
      remove(run.number(), watcher);
    }
  }

  /** The node has no state to follow any more: all who watch go elsewhere. */
  void closeAll() {
    for (List<RunWatcher> watchers : byRun.values()) {
      watchers.forEach(RunWatcher::gone);
    }
    byRun.clear();
    count = 0;
    touched.clear();
    progress.clear();
  }
}
