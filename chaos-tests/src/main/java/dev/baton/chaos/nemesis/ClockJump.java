package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The wall clock of one scheduler jumps, and back when it heals. Nothing may follow from it: time
 * in the cluster passes by monotonic clocks.
 */
public final class ClockJump implements Fault {
  private final Victim victim;
  private final Duration by;
  private String target = "";

  /**
   * A jump that is still to come.
   *
   * @param by ahead if it is positive
   */
  public ClockJump(Victim victim, Duration by) {
    this.victim = victim;
    this.by = by;
  }

  @Override
  public String name() {
    return "clock-" + (by.isNegative() ? "behind-" : "ahead-") + victim.word();
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.CLOCKS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(12);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    target = victim.find(scene);
    scene.injected(name(), List.of(target));
    scene.environment().setClock(target, by);
  }

  @Override
  public void heal(Scene scene) {
    if (!target.isEmpty()) {
      scene.environment().setClock(target, Duration.ZERO);
    }
  }
}
