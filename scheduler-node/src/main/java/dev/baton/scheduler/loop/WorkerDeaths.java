package dev.baton.scheduler.loop;

import dev.baton.coordination.Strand;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Proves that a worker is gone, so that what it ran need not wait until its lease ends: its port
 * has answered this node in this incarnation, its stream broke, and the port refuses two fresh
 * connections. Who cannot be reached beside the stream is never proven gone.
 *
 * <p>Runs on the loop's strand, on every node: the next leader knows as much.
 */
final class WorkerDeaths {
  private static final Duration ASK_EVERY = Duration.ofSeconds(1);

  /** A machine that has just started may be slow. */
  private static final Pause FIRST_PAUSE = new Pause(ASK_EVERY, Duration.ofSeconds(32));

  private static final Duration BETWEEN_REFUSALS = Duration.ofMillis(50);
  private static final int MAX_ASKED = 32;

  private final Strand strand;
  private final Fleet fleet;
  private final WorkerPorts ports;

  /** Addresses of those that have answered there. */
  private final Map<WorkerLife, String> reached = new HashMap<>();

  private final Set<WorkerLife> asked = new HashSet<>();
  private final Map<WorkerLife, Silence> silent = new HashMap<>();
  private long nextNanos;

  /** After an answer that did not come. */
  private record Silence(long untilNanos, Pause next) {}

  WorkerDeaths(Strand strand, Fleet fleet, WorkerPorts ports) {
    this.strand = strand;
    this.fleet = fleet;
    this.ports = ports;
    this.nextNanos = strand.nanoTime();
  }

  /** Asks those that have not answered yet, some at a time. */
  void tick() {
    long now = strand.nanoTime();
    if (now - nextNanos < 0) {
      return;
    }
    nextNanos = now + ASK_EVERY.toNanos();
    reached.keySet().removeIf(this::isForgotten);
    silent.keySet().removeIf(this::isForgotten);
    for (WorkerLife life : fleet.connected()) {
      if (asked.size() >= MAX_ASKED) {
        return;
      }
      Silence silence = silent.get(life);
      if (!reached.containsKey(life)
          && !asked.contains(life)
          && (silence == null || now - silence.untilNanos() >= 0)) {
        ask(life);
      }
    }
  }

  private boolean isForgotten(WorkerLife life) {
    return !fleet.isRegistered(life) && !fleet.isConnected(life);
  }

  private void ask(WorkerLife life) {
    Fleet.Registration registration = fleet.registration(life.workerId());
    if (registration == null || !registration.life().equals(life)) {
      return;
    }
    String address = registration.address();
    asked.add(life);
    var unused =
        ports
            .answers(address, life.incarnation())
            .whenCompleteAsync(
                (itself, failure) -> {
                  asked.remove(life);
                  if (failure == null && itself) {
                    reached.put(life, address);
                  } else {
                    silent.compute(life, (same, before) -> silence(before));
                  }
                },
                strand);
  }

  private Silence silence(@Nullable Silence before) {
    Pause pause = before == null ? FIRST_PAUSE : before.next();
    return new Silence(strand.nanoTime() + pause.now().toNanos(), pause.longer());
  }

  void onStreamClosed(WorkerLife life) {
    String address = reached.get(life);
    if (address != null && !fleet.isConnected(life)) {
      probe(life, address, false);
    }
  }

  private void probe(WorkerLife life, String address, boolean wasRefused) {
    var unused =
        ports
            .isRefused(address)
            .whenCompleteAsync(
                (refused, failure) ->
                    probed(life, address, wasRefused, failure == null ? refused : null),
                strand);
  }

  private void probed(
      WorkerLife life, String address, boolean wasRefused, @Nullable Boolean refused) {
    if (refused == null || !refused || fleet.isConnected(life)) {
      return;
    }
    if (wasRefused) {
      fleet.provenGone(life);
    } else {
      strand.schedule(BETWEEN_REFUSALS, () -> probe(life, address, true));
    }
  }
}
