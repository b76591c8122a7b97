package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** The wall clock of one node is ten minutes off. Nothing may follow from it. */
public final class ClockJump implements Fault {
  private final Victim victim;
  private final Duration offset;
  private String target = "";

  public ClockJump(Victim victim, Duration offset) {
    this.victim = victim;
    this.offset = offset;
  }

  @Override
  public String name() {
    return "clock-" + victim.word() + (offset.isNegative() ? "-back" : "-ahead");
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.CLOCK);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(10);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    target = victim.find(scene);
    scene.injected(name(), List.of(target));
    scene.environment().shiftClock(target, offset);
  }

  @Override
  public void heal(Scene scene) {
    scene.environment().shiftClock(target, Duration.ZERO);
  }
}
