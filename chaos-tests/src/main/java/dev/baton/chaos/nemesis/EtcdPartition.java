package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Environment;
import dev.baton.chaos.environment.Impairment;
import dev.baton.cli.cluster.Daemon.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The leader of etcd is cut off from its other members, in both directions or in one. Schedulers
 * and workers reach all of them, so some talk to a member that can't answer. The others elect
 * another leader; Baton's may go on or not, so no fail-over is expected.
 */
public final class EtcdPartition implements Fault {
  private final Kind kind;

  /** Which way nothing arrives. */
  public enum Kind {
    BOTH_WAYS("etcd-leader-from-members"),
    TO_MEMBERS("etcd-leader-to-members-one-way"),
    FROM_MEMBERS("members-to-etcd-leader-one-way");

    private final String word;

    Kind(String word) {
      this.word = word;
    }
  }

  public EtcdPartition(Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return "partition-" + kind.word;
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(Ability.ETCD_CUTS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(15);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    String leader = Victim.ETCD_LEADER.find(scene);
    List<String> others =
        scene.members(Role.ETCD).stream().filter(id -> !id.equals(leader)).toList();
    List<String> targets = new ArrayList<>(List.of(leader));
    targets.addAll(others);
    scene.injected(name(), targets);
    Environment environment = scene.environment();
    for (String other : others) {
      if (kind != Kind.FROM_MEMBERS) {
        environment.impair(leader, other, Impairment.CUT);
      }
      if (kind != Kind.TO_MEMBERS) {
        environment.impair(other, leader, Impairment.CUT);
      }
    }
  }

  @Override
  public void heal(Scene scene) {
    scene.environment().restoreNetwork();
  }
}
