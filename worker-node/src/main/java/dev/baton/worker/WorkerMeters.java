package dev.baton.worker;

import dev.baton.worker.protocol.Outputs.Drop;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** The worker's meters, besides the histogram of attempts. */
final class WorkerMeters {
  private final MeterRegistry registry;
  private final Map<Drop, Counter> drops = new EnumMap<>(Drop.class);

  WorkerMeters(MeterRegistry registry) {
    this.registry = registry;
    for (Drop why : Drop.values()) {
      drops.put(
          why,
          Counter.builder("worker.messages.dropped")
              .description("What schedulers said that was not listened to")
              .tag("reason", why.name().toLowerCase(Locale.ROOT))
              .register(registry));
    }
  }

  void dropped(Drop why) {
    Counter counter = drops.get(why);
    if (counter != null) {
      counter.increment();
    }
  }

  void watch(int slots, Supplier<WorkerLoop.State> state, Supplier<Boolean> registered) {
    gauge("worker.slots", "Slots of this worker", state, now -> slots);
    gauge(
        "worker.slots.used",
        "Slots in use: running, unacknowledged, or with an overdue handler",
        state,
        WorkerLoop.State::slotsUsed);
    gauge("worker.attempts.running", "Attempts that run", state, WorkerLoop.State::running);
    gauge(
        "worker.outbox",
        "Results that no leader has acknowledged",
        state,
        WorkerLoop.State::outbox);
    gauge(
        "worker.handlers.overdue",
        "Handlers that did not return after cancel or timeout",
        state,
        WorkerLoop.State::overdue);
    gauge(
        "worker.streams.connected",
        "Scheduler nodes with a live stream",
        state,
        WorkerLoop.State::streamsConnected);
    gauge("worker.streams.known", "Scheduler nodes listed", state, WorkerLoop.State::streamsKnown);
    gauge("worker.term", "The highest term seen", state, WorkerLoop.State::term);
    gauge(
        "worker.registered",
        "1: this worker's key is in etcd",
        state,
        now -> registered.get() ? 1 : 0);
  }

  private void gauge(
      String name,
      String description,
      Supplier<WorkerLoop.State> state,
      ToDoubleFunction<WorkerLoop.State> value) {
    Gauge.builder(name, () -> value.applyAsDouble(state.get()))
        .description(description)
        .register(registry);
  }
}
