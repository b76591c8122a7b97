package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Two workers come; then as many others are told to leave, and drain. */
public final class ScaleWorkers implements Fault {
  private static final int CHANGE = 2;
  private static final Duration DRAIN = Duration.ofSeconds(45);

  private List<String> leavers = List.of();

  @Override
  public String name() {
    return "scale-workers";
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS, Ability.SCALE);
  }

  @Override
  public void inject(Scene scene) {
    List<String> before = scene.alive(Role.WORKER);
    leavers = scene.shuffled(before).subList(0, Math.min(CHANGE, before.size()));
    scene.injected("scale-workers-up", List.of());
    scene.environment().addWorkers(CHANGE);
    scene.injected("scale-workers-down", leavers);
    leavers.forEach(worker -> scene.environment().signal(worker, Signal.TERM));
    leavers.forEach(worker -> scene.environment().awaitDown(worker, DRAIN));
  }

  @Override
  public void heal(Scene scene) {
    // They stay away; a later round may find them dead and leaves them so.
    leavers.forEach(worker -> scene.environment().awaitDown(worker, DRAIN));
  }
}
