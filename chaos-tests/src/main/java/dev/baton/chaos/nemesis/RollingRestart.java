package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** As an upgrade: every process is told to end and started again, one after the other. */
public final class RollingRestart implements Fault {
  private static final Duration DRAIN = Duration.ofSeconds(45);

  @Override
  public String name() {
    return "rolling-restart";
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
  public void inject(Scene scene) {
    for (Role role : List.of(Role.ETCD, Role.SCHEDULER, Role.WORKER)) {
      for (String member : scene.members(role)) {
        boolean leads = scene.leader().node().equals(member);
        scene.injected(
            leads ? "restart-leader" : "restart",
            List.of(member),
            leads ? Failover.FROM_INJECTION : Failover.NONE,
            Bounds.RESIGNED);
        scene.environment().signal(member, Signal.TERM);
        scene.environment().awaitDown(member, DRAIN);
        scene.environment().launch(member);
        scene.environment().awaitReady(member);
      }
    }
  }

  @Override
  public void heal(Scene scene) {
    for (Role role : Role.values()) {
      scene.launch(scene.members(role));
    }
  }
}
