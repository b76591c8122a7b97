package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** No room is left on the disk of one member of etcd, which ends sooner or later by it. */
public final class FullDisk implements Fault {
  private final Victim victim;
  private String target = "";

  public FullDisk(Victim victim) {
    this.victim = victim;
  }

  @Override
  public String name() {
    return "disk-full-" + victim.word();
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.DISK);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(20);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    target = victim.find(scene);
    scene.injected(name(), List.of(target));
    scene.environment().fillDisk(target);
  }

  @Override
  public void heal(Scene scene) {
    if (!target.isEmpty()) {
      scene.environment().freeDisk(target);
      scene.launch(List.of(target));
    }
  }
}
