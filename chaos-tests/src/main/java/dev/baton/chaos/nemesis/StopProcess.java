package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** SIGSTOP, as a pause or a hanging machine; SIGCONT at the healing. */
public final class StopProcess implements Fault {
  private final Victim victim;
  private String target = "";

  public StopProcess(Victim victim) {
    this.victim = victim;
  }

  @Override
  public String name() {
    return "stop-" + victim.word();
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(12);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    target = victim.find(scene);
    Failover failover = victim == Victim.LEADER ? Failover.FROM_INJECTION : Failover.NONE;
    scene.injected(name(), List.of(target), failover, Bounds.STANDS_STILL);
    scene.environment().signal(target, Signal.STOP);
  }

  @Override
  public void heal(Scene scene) {
    scene.environment().signal(target, Signal.CONT);
  }
}
