package dev.baton.chaos.scenario;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Environment;
import dev.baton.chaos.environment.Layout;
import dev.baton.chaos.environment.Part;
import dev.baton.chaos.history.HistoryWriter;
import dev.baton.chaos.history.Observation.Began;
import dev.baton.chaos.history.Observation.Ended;
import dev.baton.chaos.history.Observation.Healed;
import dev.baton.chaos.history.Observation.Skipped;
import dev.baton.chaos.nemesis.Fault;
import dev.baton.chaos.nemesis.NobodyThereException;
import dev.baton.chaos.nemesis.Scene;
import dev.baton.chaos.store.StoreWatch;
import dev.baton.chaos.store.StoreWatch.Leader;
import dev.baton.chaos.workload.Traces;
import dev.baton.chaos.workload.Workload;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Settings;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Keys;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.node.ExitException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One scenario on one cluster, on the thread that calls it: start, load, rounds, drain, reading.
 * Whatever happens, the environment is healed and closed by whoever made it.
 */
public final class ChaosRun {
  private static final Duration WARM_BOUND = Duration.ofSeconds(60);
  private static final int WARM_RUNS = 100;
  private static final Duration RECOVERY_BOUND = Duration.ofSeconds(60);
  private static final int RECOVERED_RUNS = 30;
  private static final Duration SETTLE = Duration.ofSeconds(3);

  /** A run may take a minute once everything is healed. */
  private static final Duration DRAIN_BOUND = Duration.ofSeconds(70);

  private static final long POLL_NANOS = 50_000_000;

  private final Options options;
  private final Environment environment;
  private final HistoryWriter history;
  private final Consumer<String> progress;
  private final Random random;
  private final Set<Ability> abilities = EnumSet.noneOf(Ability.class);

  /**
   * What to do.
   *
   * @param duration rounds begin for so long, however many; null: as many as {@code rounds} says
   * @param faultDuration of each fault; null: its own
   * @param runsPerSecond well under what the machine bears
   */
  public record Options(
      Scenario scenario,
      int rounds,
      @Nullable Duration duration,
      long seed,
      @Nullable Duration faultDuration,
      double runsPerSecond,
      int etcd,
      int schedulers,
      int workers,
      int slots,
      String version) {}

  public ChaosRun(
      Options options, Environment environment, HistoryWriter history, Consumer<String> progress) {
    this.options = options;
    this.environment = environment;
    this.history = history;
    this.progress = progress;
    this.random = new Random(options.seed());
  }

  /** Runs it; the history is complete afterwards. */
  public void run() throws InterruptedException {
    for (Ability ability : Ability.values()) {
      if (environment.lacks(ability).isEmpty()) {
        abilities.add(ability);
      }
    }
    Set<Ability> wanted = EnumSet.copyOf(options.scenario().wanted());
    wanted.retainAll(abilities);
    history.accept(
        new Began(
            System.nanoTime(),
            System.currentTimeMillis(),
            options.scenario().name(),
            options.seed(),
            environment.name(),
            options.version(),
            options.runsPerSecond(),
            options.slots()));
    if (isWhollySkipped()) {
      history.accept(new Ended(System.nanoTime()));
      return;
    }
    progress.accept(
        "starting: %d members of etcd, %d schedulers, %d workers with %d slots each"
            .formatted(options.etcd(), options.schedulers(), options.workers(), options.slots()));
    environment.start(
        new Layout(
            options.etcd(), options.schedulers(), options.workers(), options.slots(), wanted));
    ScheduledExecutorService executor =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("chaos-watch").daemon().factory());
    try (Pulse pulse = new Pulse(history);
        JetcdEtcd etcd = JetcdEtcd.create(EtcdConfig.of(environment.etcdEndpoints()), "chaos");
        StoreWatch store = new StoreWatch(etcd, new Keys(Settings.NAMESPACE), history, executor);
        Workload workload =
            new Workload(
                environment.endpoints(),
                new Random(options.seed() + 1),
                environment.files().witness(),
                history)) {
      pulse.start();
      store.start();
      workload.start(options.runsPerSecond());
      progress.accept(String.format(Locale.ROOT, "load: %.0f runs/s", options.runsPerSecond()));
      rounds(store, workload);
      workload.stop();
      drain(workload);
    } finally {
      executor.shutdownNow();
    }
    // The watch is closed by now: etcd's end is no news.
    environment.stop();
    collect();
    history.accept(new Ended(System.nanoTime()));
  }

  /** Notes all rounds as skipped if the environment can make none: then no cluster is needed. */
  private boolean isWhollySkipped() {
    Random preview = new Random(options.seed());
    List<Fault> faults = new ArrayList<>();
    for (int round = 1; round <= options.rounds(); round++) {
      faults.add(options.scenario().course().fault(round, preview, abilities));
    }
    if (!faults.stream().allMatch(fault -> obstacle(fault).isPresent())) {
      return false;
    }
    for (int i = 0; i < faults.size(); i++) {
      skip(i + 1, faults.get(i), obstacle(faults.get(i)).orElse(""));
    }
    return true;
  }

  private Optional<String> obstacle(Fault fault) {
    return fault.needs().stream().flatMap(need -> environment.lacks(need).stream()).findFirst();
  }

  private void skip(int round, Fault fault, String reason) {
    progress.accept("round " + round + ": " + fault.name() + " skipped: " + reason);
    history.accept(new Skipped(System.nanoTime(), fault.name(), reason));
  }

  private void rounds(StoreWatch store, Workload workload) throws InterruptedException {
    if (!await(WARM_BOUND, () -> workload.ended() >= WARM_RUNS)) {
      progress.accept("only " + workload.ended() + " runs ended before the first fault");
    }
    long began = System.nanoTime();
    for (int round = 1; isWanted(round, System.nanoTime() - began); round++) {
      Fault fault = options.scenario().course().fault(round, random, abilities);
      Optional<String> obstacle = obstacle(fault);
      if (obstacle.isPresent()) {
        skip(round, fault, obstacle.get());
      } else if (!round(round, fault, store, workload)) {
        progress.accept("the cluster did not recover: no more rounds");
        return;
      }
    }
  }

  private boolean isWanted(int round, long passedNanos) {
    Duration duration = options.duration();
    return duration == null ? round <= options.rounds() : passedNanos < duration.toNanos();
  }

  /** Tells whether the cluster recovered. */
  private boolean round(int round, Fault fault, StoreWatch store, Workload workload)
      throws InterruptedException {
    Scene scene = new Scene(environment, store::leader, random, history, progress, round, fault);
    try {
      fault.inject(scene);
      Duration duration = options.faultDuration();
      pause(duration == null ? fault.duration() : duration);
    } catch (NobodyThereException e) {
      progress.accept("round %d: %s".formatted(round, e.getMessage()));
    } catch (ExitException e) {
      progress.accept("round %d: %s".formatted(round, firstLine(e)));
    } finally {
      // Also when it is interrupted: what was stopped or cut must not stay so.
      fault.heal(scene);
      history.accept(new Healed(System.nanoTime(), round, fault.name()));
    }
    long acknowledged = workload.acknowledged();
    boolean recovered =
        areReady()
            && await(
                RECOVERY_BOUND,
                () ->
                    !store.leader().node().isEmpty()
                        && workload.acknowledged() >= acknowledged + RECOVERED_RUNS);
    Leader leader = store.leader();
    progress.accept(
        "round %d: healed; %s leads in term %d; %d runs ended"
            .formatted(
                round,
                leader.node().isEmpty() ? "nobody" : leader.node(),
                leader.term(),
                workload.ended()));
    pause(SETTLE);
    return recovered;
  }

  /** All that is not meant to be dead: workers that were told to leave stay away. */
  private boolean areReady() {
    for (Part part : environment.parts()) {
      boolean left = part.role() == Role.WORKER && environment.isDown(part.name());
      if (!left && !isReady(part) && !isReady(part)) {
        return false;
      }
    }
    return true;
  }

  private boolean isReady(Part part) {
    try {
      environment.awaitReady(part.name());
      return true;
    } catch (ExitException e) {
      progress.accept(firstLine(e));
      return false;
    }
  }

  private static String firstLine(ExitException failure) {
    return failure.sentence().lines().findFirst().orElse("it failed");
  }

  private void drain(Workload workload) throws InterruptedException {
    boolean done = await(DRAIN_BOUND, () -> workload.following() == 0);
    progress.accept(
        done
            ? "all runs have ended: " + workload.ended()
            : workload.following() + " runs have not ended");
    progress.accept("reading everything once more");
    workload.readAll();
  }

  private void collect() {
    for (Part part : environment.parts()) {
      if (part.role() == Role.WORKER) {
        Traces.read(part.name(), environment.files().trace(part.name()), history);
      }
    }
    Traces.readWitness(environment.files().witness(), history);
  }

  private static boolean await(Duration bound, BooleanSupplier state) throws InterruptedException {
    long end = System.nanoTime() + bound.toNanos();
    while (!state.getAsBoolean()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      pause(Duration.ofNanos(POLL_NANOS));
    }
    return true;
  }

  private static void pause(Duration time) throws InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(Math.min(left, TimeUnit.SECONDS.toNanos(1)));
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }
}
