package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Environment;
import dev.baton.chaos.environment.Part;
import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.history.Observation.Injected;
import dev.baton.chaos.store.StoreWatch.Leader;
import dev.baton.cli.cluster.Daemon.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** What faults of one round act on. */
public final class Scene {
  private static final long POLL_NANOS = 20_000_000;

  /** Where several faults come together each of them may have to wait for the others. */
  private static final Duration COMBINED_BOUND = Duration.ofSeconds(20);

  private final Environment environment;
  private final Supplier<Leader> leader;
  private final RandomGenerator random;
  private final Consumer<Observation> journal;
  private final Consumer<String> progress;
  private final int round;
  private final Fault whole;

  /**
   * A round begins.
   *
   * @param whole the fault of the round, with all its parts
   */
  public Scene(
      Environment environment,
      Supplier<Leader> leader,
      RandomGenerator random,
      Consumer<Observation> journal,
      Consumer<String> progress,
      int round,
      Fault whole) {
    this.environment = environment;
    this.leader = leader;
    this.random = random;
    this.journal = journal;
    this.progress = progress;
    this.round = round;
    this.whole = whole;
  }

  Environment environment() {
    return environment;
  }

  RandomGenerator random() {
    return random;
  }

  Leader leader() {
    return leader.get();
  }

  List<String> members(Role role) {
    return environment.parts().stream()
        .filter(part -> part.role() == role)
        .map(Part::name)
        .toList();
  }

  List<String> alive(Role role) {
    return members(role).stream().filter(name -> !environment.isDown(name)).toList();
  }

  <T> T any(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  <T> List<T> shuffled(List<T> all) {
    List<T> rest = new ArrayList<>(all);
    List<T> order = new ArrayList<>();
    while (!rest.isEmpty()) {
      order.add(rest.remove(random.nextInt(rest.size())));
    }
    return order;
  }

  /** Notes a fault in the history, right before it happens, and tells the user. */
  void injected(String fault, List<String> targets, Failover failover, Duration bound) {
    boolean afterHealing = failover == Failover.FROM_INJECTION && whole.stopsEtcd();
    Failover counted = afterHealing ? Failover.FROM_HEALING : failover;
    String on = targets.isEmpty() ? "" : " -> " + String.join(", ", targets);
    progress.accept("round " + round + ": " + fault + on);
    journal.accept(
        new Injected(
            System.nanoTime(),
            round,
            fault,
            targets,
            leader().term(),
            counted,
            counted == Failover.NONE ? 0 : allowed(bound).toMillis()));
  }

  private Duration allowed(Duration bound) {
    return whole instanceof Together && bound.compareTo(COMBINED_BOUND) < 0
        ? COMBINED_BOUND
        : bound;
  }

  /** A fault that no leader's change follows from. */
  void injected(String fault, List<String> targets) {
    injected(fault, targets, Failover.NONE, Duration.ZERO);
  }

  /** Waits for a state; tells whether it came within the bound. */
  boolean await(Duration bound, BooleanSupplier state) throws InterruptedException {
    long end = System.nanoTime() + bound.toNanos();
    while (!state.getAsBoolean()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      pause(Duration.ofNanos(POLL_NANOS));
    }
    return true;
  }

  /** Lets time pass. */
  void pause(Duration time) throws InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** Starts what is dead of these again. */
  void launch(List<String> parts) {
    for (String part : parts) {
      if (environment.isDown(part)) {
        environment.launch(part);
      }
    }
  }
}
