package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** SIGKILL, as a crash; started again at the healing. */
public final class KillProcess implements Fault {
  private final Victim victim;
  private String target = "";

  public KillProcess(Victim victim) {
    this.victim = victim;
  }

  @Override
  public String name() {
    return "kill-" + victim.word();
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
    boolean refuses = scene.environment().refusesForTheDead();
    scene.injected(
        name(), List.of(target), failover, refuses ? Bounds.PROCESS_GONE : Bounds.STANDS_STILL);
    scene.environment().signal(target, Signal.KILL);
  }

  @Override
  public void heal(Scene scene) {
    scene.launch(List.of(target));
  }
}
