package dev.baton.chaos.environment;

import java.util.Set;

/**
 * What to start.
 *
 * @param slots of each worker
 * @param wanted abilities that will be used: some need preparation before the start
 */
public record Layout(int etcd, int schedulers, int workers, int slots, Set<Ability> wanted) {
  public Layout {
    wanted = Set.copyOf(wanted);
  }
}
