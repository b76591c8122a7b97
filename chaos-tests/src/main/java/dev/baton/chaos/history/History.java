package dev.baton.chaos.history;

import dev.baton.chaos.history.Execution.Ending;
import dev.baton.chaos.history.Observation.Began;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.Finished;
import dev.baton.chaos.history.Observation.Healed;
import dev.baton.chaos.history.Observation.Injected;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.Stalled;
import dev.baton.chaos.history.Observation.Started;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All observations of one chaos run, and what follows from them without judging. */
public final class History {
  private final List<Observation> all;
  private final long end;
  private final Map<String, Planned> planned;
  private final Map<String, List<RunRead>> reads;
  private final List<FaultSpan> faults;
  private final List<Stalled> stalls;
  private final Map<String, List<ProcessChanged>> processes;
  private final Map<TaskKey, List<Execution>> executions;

  private History(List<Observation> all) {
    this.all = all;
    this.end = all.stream().mapToLong(Observation::nanos).max().orElse(0);
    this.planned = new LinkedHashMap<>();
    each(Planned.class).forEach(plan -> planned.put(plan.run(), plan));
    this.reads = new HashMap<>();
    each(RunRead.class)
        .forEach(read -> reads.computeIfAbsent(read.run(), r -> new ArrayList<>()).add(read));
    this.processes = new HashMap<>();
    each(ProcessChanged.class)
        .forEach(change ->
            processes.computeIfAbsent(change.process(), p -> new ArrayList<>()).add(change));
    this.stalls = each(Stalled.class);
    this.faults = findFaults();
    this.executions = findExecutions();
  }

  public static History of(List<Observation> observations) {
    return new History(List.copyOf(observations));
  }

  /** All of one type, in the order in which they were written. */
  public <T extends Observation> List<T> each(Class<T> type) {
    List<T> found = new ArrayList<>();
    for (Observation observation : all) {
      if (type.isInstance(observation)) {
        found.add(type.cast(observation));
      }
    }
    return found;
  }

  public Optional<Began> began() {
    return each(Began.class).stream().findFirst();
  }

  /** The latest moment. */
  public long end() {
    return end;
  }

  /** Plans by run id. */
  public Map<String, Planned> planned() {
    return Collections.unmodifiableMap(planned);
  }

  /** What was read of a run, the earliest first. */
  public List<RunRead> reads(String run) {
    return Collections.unmodifiableList(reads.getOrDefault(run, List.of()));
  }

  /** What was read of a run after everything. */
  public Optional<RunRead> lastRead(String run) {
    return reads(run).stream().filter(RunRead::last).reduce((earlier, later) -> later);
  }

  /** Faults in the order of their injection. */
  public List<FaultSpan> faults() {
    return faults;
  }

  /** Starts of handlers by task, the earliest first. */
  public Map<TaskKey, List<Execution>> executions() {
    return Collections.unmodifiableMap(executions);
  }

  public List<Execution> executions(TaskKey key) {
    return executions.getOrDefault(key, List.of());
  }

  /** When a process began to be dead, the first time at or after a moment; empty: never. */
  public Optional<Long> deathAfter(String process, long nanos) {
    return processes.getOrDefault(process, List.of()).stream()
        .filter(change -> change.change() == Change.KILLED || change.change() == Change.GONE)
        .map(ProcessChanged::nanos)
        .filter(death -> death >= nanos)
        .findFirst();
  }

  /** Nanoseconds of an interval in which the machine stood still. */
  public long stalledNanos(long from, long to) {
    long sum = 0;
    for (Stalled stall : stalls) {
      long start = stall.nanos() - stall.millis() * 1_000_000;
      sum += Math.max(0, Math.min(to, stall.nanos()) - Math.max(from, start));
    }
    return sum;
  }

  private List<FaultSpan> findFaults() {
    List<Healed> healings = each(Healed.class);
    List<FaultSpan> found = new ArrayList<>();
    for (Injected injected : each(Injected.class)) {
      long healed =
          healings.stream()
              .filter(h -> h.round() == injected.round() && h.nanos() >= injected.nanos())
              .mapToLong(Healed::nanos)
              .min()
              .orElse(end);
      found.add(
          new FaultSpan(
              injected.round(),
              injected.fault(),
              injected.targets(),
              injected.term(),
              injected.failover(),
              injected.boundMillis(),
              injected.nanos(),
              healed));
    }
    return List.copyOf(found);
  }

  private record Running(String worker, TaskKey key, int attempt) {}

  private Map<TaskKey, List<Execution>> findExecutions() {
    Map<Running, List<Long>> ends = new HashMap<>();
    for (Finished finished : each(Finished.class)) {
      ends.computeIfAbsent(
              new Running(
                  finished.worker(),
                  new TaskKey(finished.run(), finished.task()),
                  finished.attempt()),
              r -> new ArrayList<>())
          .add(finished.nanos());
    }
    ends.values().forEach(Collections::sort);
    List<Started> starts = new ArrayList<>(each(Started.class));
    starts.sort((a, b) -> Long.compare(a.nanos(), b.nanos()));
    Map<TaskKey, List<Execution>> found = new HashMap<>();
    for (Started start : starts) {
      TaskKey key = new TaskKey(start.run(), start.task());
      Running running = new Running(start.worker(), key, start.attempt());
      found
          .computeIfAbsent(key, k -> new ArrayList<>())
          .add(execution(start, key, ends.getOrDefault(running, List.of())));
    }
    return found;
  }

  private Execution execution(Started start, TaskKey key, List<Long> ends) {
    long death = deathAfter(start.worker(), start.nanos()).orElse(Long.MAX_VALUE);
    long finish = ends.stream().filter(nanos -> nanos >= start.nanos()).findFirst().orElse(death);
    // What ended before the death ended by itself.
    Ending ending =
        finish == Long.MAX_VALUE ? Ending.OPEN : finish < death ? Ending.FINISHED : Ending.CUT;
    long ended = Math.min(Math.min(finish, death), Math.max(end, start.nanos()));
    return new Execution(start.worker(), key, start.attempt(), start.nanos(), ended, ending);
  }
}
