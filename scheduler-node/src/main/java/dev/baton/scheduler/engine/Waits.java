package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Fleet.Registration;
import dev.baton.scheduler.engine.Fleet.Standing;
import dev.baton.scheduler.model.TaskStatus;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why tasks that have not started wait: each for exactly one reason, the first that holds. A
 * picture of one moment, to be dropped with it.
 */
public final class Waits {
  private static final int NAMED = 3;

  private final ClusterState state;
  private final Fleet fleet;
  private final long now;
  private final Map<String, Wait> byType = new HashMap<>();

  /**
   * @param now journal time, ms
   */
  public Waits(ClusterState state, Fleet fleet, long now) {
    this.state = state;
    this.fleet = fleet;
    this.now = now;
  }

  /** The kinds of reason, in the order in which they are looked for. */
  public enum Kind {
    /** Tasks it depends on have not succeeded yet. */
    DEPENDENCY,
    /** The delay of a retry has not passed. */
    RETRY,
    /** No worker that is registered offers its type. */
    NO_WORKER,
    /** Those that do are all out of service. */
    CORDONED,
    /** Of those in service none is heard of. */
    NOT_CONNECTED,
    /** None that is heard of has a slot free, or it has just said that it has none. */
    WORKERS_FULL,
    /** Nothing is in the way: it is assigned as soon as the leader comes to it. */
    NEXT
  }

  /** A reason, and its words. */
  public record Wait(Kind kind, String text) {}

  /** Null: it does not wait. */
  public @Nullable Wait of(Run run, int task) {
    return switch (run.task(task).status()) {
      case PENDING -> new Wait(Kind.DEPENDENCY, "waits for " + first(unfinished(run, task)));
      case READY -> {
        long rest = run.task(task).retryAt() - now;
        yield rest > 0
            ? new Wait(Kind.RETRY, "retry in " + (rest + 999) / 1000 + " s")
            : ofType(run.workflow().task(task).type());
      }
      case RUNNING, SUCCESS, FAILED, TIMEOUT, CANCELLED, SKIPPED -> null;
    };
  }

  /** How many tasks wait for each reason; every kind is there. */
  public Map<Kind, Integer> counts() {
    Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      counts.put(kind, 0);
    }
    int pending = 0;
    for (Run run : state.runs()) {
      pending += run.count(TaskStatus.PENDING);
    }
    counts.put(Kind.DEPENDENCY, pending);
    counts.put(Kind.RETRY, state.ready().delayedSize());
    for (String type : state.ready().types()) {
      counts.merge(ofType(type).kind(), state.ready().size(type), Integer::sum);
    }
    return counts;
  }

  /** It is the same for all tasks of a type that may start. */
  private Wait ofType(String type) {
    return byType.computeIfAbsent(type, this::find);
  }

  private Wait find(String type) {
    List<String> offering = new ArrayList<>();
    List<String> inService = new ArrayList<>();
    int connected = 0;
    int slots = 0;
    boolean room = false;
    for (Registration worker : fleet.registrations()) {
      if (!worker.offers(type)) {
        continue;
      }
      String id = worker.life().workerId();
      offering.add(id);
      if (state.cordons().has(id)) {
        continue;
      }
      inService.add(id);
      if (fleet.standing(worker.life(), now) == Standing.CONNECTED) {
        connected++;
        slots += worker.slots();
        room |=
            fleet.used(worker.life(), state.workers()) < worker.slots()
                && !fleet.isFull(worker.life(), now);
      }
    }
    if (offering.isEmpty()) {
      return new Wait(Kind.NO_WORKER, "no worker for " + type);
    }
    if (inService.isEmpty()) {
      return new Wait(
          Kind.CORDONED, "no worker for " + type + " in service: " + first(offering) + " cordoned");
    }
    if (connected == 0) {
      return new Wait(
          Kind.NOT_CONNECTED, "no worker for " + type + " is heard of: " + first(inService));
    }
    if (room) {
      return new Wait(Kind.NEXT, "is about to be assigned");
    }
    int waiting = state.ready().size(type);
    return new Wait(
        Kind.WORKERS_FULL,
        "workers full: no slot for "
            + type
            + " is free ("
            + slots
            + " in all), and "
            + waiting
            + (waiting == 1 ? " task of it waits" : " tasks of it wait"));
  }

  private static List<String> unfinished(Run run, int task) {
    List<String> names = new ArrayList<>();
    for (int before : run.workflow().task(task).dependsOn()) {
      if (run.task(before).status() != TaskStatus.SUCCESS) {
        names.add(run.workflow().task(before).id());
      }
    }
    return names;
  }

  private static String first(List<String> names) {
    int more = names.size() - NAMED;
    return more <= 0
        ? String.join(", ", names)
        : String.join(", ", names.subList(0, NAMED)) + " and " + more + " more";
  }
}
