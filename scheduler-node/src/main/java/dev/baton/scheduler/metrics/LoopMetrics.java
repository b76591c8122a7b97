package dev.baton.scheduler.metrics;

import dev.baton.scheduler.engine.Waits;
import dev.baton.scheduler.loop.LoopListener;
import dev.baton.scheduler.loop.Role;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.model.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The loop's meters. Fed on the loop's thread, read by the scrape's. */
public final class LoopMetrics implements LoopListener {
  private static final int MAX_TYPES = 200;

  private final MeterRegistry registry;
  private final Timer append;
  private final DistributionSummary entryBytes;
  private final DistributionSummary entryEvents;
  private final Counter faults;
  private final Counter adopted;
  private final Counter wrongGuesses;
  private final Counter inventories;
  private final Counter elections;
  private final Timer takeOver;
  private final Timer load;
  private final AtomicInteger stalled = new AtomicInteger();
  private final AtomicLong snapshotBytes = new AtomicLong();
  private final Set<String> types = new HashSet<>();
  private final Map<String, Timer> durations = new HashMap<>();

  public LoopMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.append =
        Timer.builder("baton.journal.append")
            .description("from sending an entry to its being durable")
            .publishPercentileHistogram()
            .minimumExpectedValue(Duration.ofMillis(1))
            .maximumExpectedValue(Duration.ofSeconds(10))
            .register(registry);
    this.entryBytes =
        DistributionSummary.builder("baton.journal.entry").baseUnit("bytes").register(registry);
    this.entryEvents = DistributionSummary.builder("baton.journal.events").register(registry);
    this.faults = registry.counter("baton.loop.faults");
    this.adopted = registry.counter("baton.attempts.adopted");
    this.inventories = registry.counter("baton.worker.inventories");
    this.wrongGuesses = registry.counter("baton.failover.wrong.guesses");
    this.elections = registry.counter("baton.leader.elections");
    this.takeOver = registry.timer("baton.leader.takeover");
    this.load = registry.timer("baton.state.load");
    registry.gauge("baton.journal.stalled", stalled);
    registry.gauge("baton.snapshot.bytes", snapshotBytes);
  }

  /** Gauges that read the loop's status. */
  public void watch(SchedulerLoop loop) {
    Gauge.builder("baton.leader", loop, l -> l.status().role() == Role.LEADING ? 1 : 0)
        .description("1 if this node leads")
        .register(registry);
    Gauge.builder("baton.term", loop, l -> l.status().term()).register(registry);
    Gauge.builder("baton.journal.seq", loop, l -> l.status().seq()).register(registry);
    Gauge.builder("baton.standby.lag", loop, l -> l.status().lag().toNanos() / 1e9)
        .baseUnit("seconds")
        .register(registry);
    Gauge.builder("workflow.workers.healthy", loop, l -> l.status().load().workers())
        .description("workers that are registered and heard of, as the leader sees them")
        .register(registry);
    Gauge.builder("baton.slots", loop, l -> l.status().load().slots()).register(registry);
    Gauge.builder("baton.slots.used", loop, l -> l.status().load().slotsUsed()).register(registry);
    Gauge.builder("baton.tasks.ready", loop, l -> l.status().load().ready()).register(registry);
    Gauge.builder("baton.tasks.delayed", loop, l -> l.status().load().delayed()).register(registry);
    for (Waits.Kind kind : Waits.Kind.values()) {
      Gauge.builder(
              "baton.tasks.waiting", loop, l -> l.status().load().waiting().getOrDefault(kind, 0))
          .description("tasks that have not started, by why they wait")
          .tag("reason", kind.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
    Gauge.builder("baton.tasks.live", loop, l -> l.status().load().liveTasks()).register(registry);
    Gauge.builder("baton.runs.live", loop, l -> l.status().load().liveRuns()).register(registry);
    Gauge.builder("baton.runs.retained", loop, l -> l.status().load().retained())
        .register(registry);
  }

  @Override
  public void onRole(Role role, long term) {
    if (role == Role.LEADING) {
      elections.increment();
    }
  }

  @Override
  public void onEntry(int events, int bytes, Duration took) {
    append.record(took);
    entryBytes.record(bytes);
    entryEvents.record(events);
  }

  @Override
  public void onStalled(boolean isStalled) {
    stalled.set(isStalled ? 1 : 0);
  }

  @Override
  public void onFault(String what) {
    faults.increment();
  }

  @Override
  public void onDropped(String command) {
    registry.counter("baton.loop.dropped", "command", command).increment();
  }

  @Override
  public void onAttemptEnded(String type, Outcome outcome, int durationMs) {
    if (types.size() < MAX_TYPES) {
      types.add(type);
    }
    String shownType = types.contains(type) ? type : "other";
    durations
        .computeIfAbsent(shownType + "\0" + outcome, key -> duration(shownType, outcome))
        .record(Duration.ofMillis(durationMs));
  }

  private Timer duration(String type, Outcome outcome) {
    return Timer.builder("workflow.task.duration")
        .description("of handlers, by their worker's word")
        .tag("task_type", type)
        .tag("status", outcome.name().toLowerCase(Locale.ROOT))
        .publishPercentileHistogram()
        .minimumExpectedValue(Duration.ofMillis(1))
        .maximumExpectedValue(Duration.ofHours(1))
        .register(registry);
  }

  @Override
  public void onRefused(String code) {
    registry.counter("baton.refusals", "code", code).increment();
  }

  @Override
  public void onAdopted() {
    adopted.increment();
  }

  @Override
  public void onInventory() {
    inventories.increment();
  }

  @Override
  public void onSnapshot(long bytes) {
    snapshotBytes.set(bytes);
  }

  @Override
  public void onLoaded(int keysRead, Duration took) {
    load.record(took);
  }

  @Override
  public void onDeposed(String evidence) {
    registry.counter("baton.failover.deposed", "evidence", evidence).increment();
  }

  @Override
  public void onWrongGuess() {
    wrongGuesses.increment();
  }

  @Override
  public void onTakeOver(int keysRead, Duration took) {
    takeOver.record(took);
  }
}
