package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** SIGTERM: it resigns or drains, and ends by itself; started again at the healing. */
public final class TerminateProcess implements Fault {
  private static final Duration DRAIN = Duration.ofSeconds(45);

  private final Victim victim;
  private String target = "";

  public TerminateProcess(Victim victim) {
    this.victim = victim;
  }

  @Override
  public String name() {
    return "terminate-" + victim.word();
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(8);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    target = victim.find(scene);
    Failover failover = victim == Victim.LEADER ? Failover.FROM_INJECTION : Failover.NONE;
    scene.injected(name(), List.of(target), failover, Bounds.RESIGNED);
    scene.environment().signal(target, Signal.TERM);
  }

  @Override
  public void heal(Scene scene) {
    scene.environment().awaitDown(target, DRAIN);
    scene.launch(List.of(target));
  }
}
