package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import java.time.Duration;
import java.util.Set;

/**
 * Something bad that happens to a cluster, once. Injecting returns when it has happened; whom it
 * hit is remembered for the healing. Of one thread.
 */
public interface Fault {
  String name();

  /** What an environment must be able to do. */
  Set<Ability> needs();

  /** How long it lasts unless the user says otherwise. */
  default Duration duration() {
    return Duration.ofSeconds(5);
  }

  /** Whether nobody can lead while it lasts. */
  default boolean stopsEtcd() {
    return false;
  }

  void inject(Scene scene) throws InterruptedException;

  /**
   * Ends it and starts again what it ended; need not wait for it to be ready. Does nothing if there
   * was nobody to inject it into.
   */
  void heal(Scene scene) throws InterruptedException;
}
