package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** SIGKILL to the leader and to etcd's leader together: the leases start again in full. */
public final class KillLeaderAndEtcdLeader implements Fault {
  private List<String> targets = List.of();

  @Override
  public String name() {
    return "kill-leader-and-etcd-leader";
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(15);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    targets = List.of(Victim.ETCD_LEADER.find(scene), Victim.LEADER.find(scene));
    scene.injected(name(), targets, Failover.FROM_INJECTION, Bounds.LEASE_AFTER_AN_ELECTION);
    targets.forEach(target -> scene.environment().signal(target, Signal.KILL));
  }

  @Override
  public void heal(Scene scene) {
    scene.launch(targets);
  }
}
