package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** One process is killed, stopped, or told to end; the healing makes it run again. */
public final class ProcessFault implements Fault {
  private static final Duration DRAIN = Duration.ofSeconds(45);

  private final Kind kind;
  private final Victim victim;
  private String target = "";

  /** What is done to it. */
  public enum Kind {
    /** SIGKILL, as a crash. */
    KILL("kill", Signal.KILL, Duration.ofSeconds(8)),
    /** SIGSTOP, as a pause or a hanging machine: longer than a lease. */
    STOP("stop", Signal.STOP, Duration.ofSeconds(12)),
    /** SIGTERM: it resigns or drains, and ends by itself. */
    TERMINATE("terminate", Signal.TERM, Duration.ofSeconds(8));

    private final String word;
    private final Signal signal;
    private final Duration duration;

    Kind(String word, Signal signal, Duration duration) {
      this.word = word;
      this.signal = signal;
      this.duration = duration;
    }
  }

  public ProcessFault(Kind kind, Victim victim) {
    this.kind = kind;
    this.victim = victim;
  }

  @Override
  public String name() {
    return kind.word + "-" + victim.word();
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS);
  }

  @Override
  public Duration duration() {
    return kind.duration;
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    target = victim.find(scene);
    Failover failover = victim == Victim.LEADER ? Failover.FROM_INJECTION : Failover.NONE;
    scene.injected(name(), List.of(target), failover, bound(scene));
    scene.environment().signal(target, kind.signal);
  }

  private Duration bound(Scene scene) {
    return switch (kind) {
      case KILL ->
          scene.environment().refusesForTheDead() ? Bounds.PROCESS_GONE : Bounds.STANDS_STILL;
      case STOP -> Bounds.STANDS_STILL;
      case TERMINATE -> Bounds.RESIGNED;
    };
  }

  @Override
  public void heal(Scene scene) {
    if (target.isEmpty()) {
      return;
    }
    switch (kind) {
      case KILL -> scene.launch(List.of(target));
      case STOP -> scene.environment().signal(target, Signal.CONT);
      case TERMINATE -> {
        scene.environment().awaitDown(target, DRAIN);
        scene.launch(List.of(target));
      }
    }
  }
}
