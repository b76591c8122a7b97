package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** A majority of etcd's members is killed, or stands still. Nobody can lead until they are back. */
public final class EtcdQuorumLoss implements Fault {
  private final boolean killed;
  private List<String> targets = List.of();

  /**
   * Nothing happens yet.
   *
   * @param killed else they are stopped
   */
  public EtcdQuorumLoss(boolean killed) {
    this.killed = killed;
  }

  @Override
  public String name() {
    return killed ? "etcd-quorum-killed" : "etcd-quorum-stopped";
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.SIGNALS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(30);
  }

  @Override
  public boolean stopsEtcd() {
    return true;
  }

  @Override
  public void inject(Scene scene) {
    List<String> members = scene.shuffled(scene.members(Role.ETCD));
    targets = members.subList(0, members.size() / 2 + 1);
    scene.injected(name(), targets, Failover.FROM_HEALING, Bounds.ETCD_IS_BACK);
    Signal signal = killed ? Signal.KILL : Signal.STOP;
    targets.forEach(target -> scene.environment().signal(target, signal));
  }

  @Override
  public void heal(Scene scene) {
    if (killed) {
      scene.launch(targets);
    } else {
      targets.forEach(target -> scene.environment().signal(target, Signal.CONT));
    }
  }
}
