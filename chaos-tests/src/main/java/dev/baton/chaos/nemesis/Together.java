package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Several faults at once: injected in order, healed in the reverse order. */
public final class Together implements Fault {
  private final List<Fault> faults;

  public Together(List<Fault> faults) {
    this.faults = List.copyOf(faults);
  }

  @Override
  public String name() {
    return faults.stream().map(Fault::name).collect(Collectors.joining("+"));
  }

  @Override
  public Set<Ability> needs() {
    Set<Ability> all = new HashSet<>();
    faults.forEach(fault -> all.addAll(fault.needs()));
    return all;
  }

  @Override
  public Duration duration() {
    return faults.stream().map(Fault::duration).max(Duration::compareTo).orElse(Duration.ZERO);
  }

  @Override
  public boolean stopsEtcd() {
    return faults.stream().anyMatch(Fault::stopsEtcd);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    for (Fault fault : faults) {
      fault.inject(scene);
    }
  }

  @Override
  public void heal(Scene scene) throws InterruptedException {
    for (Fault fault : faults.reversed()) {
      fault.heal(scene);
    }
  }
}
