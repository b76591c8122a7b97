package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.store.StoreWatch.Leader;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Ten leaders in a minute: each is killed soon after it took over, and started again at once. */
public final class Flapping implements Fault {
  private static final int LEADERS = 10;
  private static final Duration EACH = Duration.ofSeconds(6);

  /** A leader that dies in the instant of its election could assign nothing. */
  private static final Duration LIVES = Duration.ofSeconds(2);

  private static final Duration DEATH = Duration.ofSeconds(5);
  private static final Duration BOUND = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "flapping";
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS);
  }

  @Override
  public Duration duration() {
    return Duration.ZERO;
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    for (int i = 0; i < LEADERS; i++) {
      long began = System.nanoTime();
      String target = Victim.LEADER.find(scene);
      Leader before = scene.leader();
      // Others may have just been started again and have to load first.
      scene.injected("flapping", List.of(target), Failover.FROM_INJECTION, Bounds.LEASE);
      scene.environment().signal(target, Signal.KILL);
      // A process is dead a moment after its signal, and only then can it be started again.
      scene.environment().awaitDown(target, DEATH);
      scene.launch(List.of(target));
      boolean ignored =
          scene.await(
              BOUND,
              () -> scene.leader().term() > before.term() && !scene.leader().node().isEmpty());
      Duration left = EACH.minusNanos(System.nanoTime() - began);
      scene.pause(left.compareTo(LIVES) > 0 ? left : LIVES);
    }
  }

  @Override
  public void heal(Scene scene) {
    scene.launch(scene.members(Role.SCHEDULER));
  }
}
