package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The leader is cut off from some of the others, in both directions or in one, or its network is
 * slow and loses packets.
 */
public final class Partition implements Fault {
  private final Kind kind;

  /** Between the leader and whom, and how. */
  public enum Kind {
    FROM_ETCD("leader-from-etcd"),
    /** What it sends to etcd does not arrive; what etcd sends does. */
    TO_ETCD_ONE_WAY("leader-to-etcd-one-way"),
    FROM_ETCD_ONE_WAY("etcd-to-leader-one-way"),
    FROM_WORKERS("leader-from-workers"),
    FROM_STANDBYS("leader-from-standbys"),
    FROM_ALL("leader-from-all"),
    SLOW("leader-slow");

    private final String word;

    Kind(String word) {
      this.word = word;
    }

    private List<Role> others() {
      return switch (this) {
        case FROM_ETCD, TO_ETCD_ONE_WAY, FROM_ETCD_ONE_WAY -> List.of(Role.ETCD);
        case FROM_WORKERS -> List.of(Role.WORKER);
        case FROM_STANDBYS -> List.of(Role.SCHEDULER);
        case FROM_ALL, SLOW -> List.of(Role.values());
      };
    }
  }

  private static final Impairment SLOWNESS = Impairment.slow(Duration.ofMillis(40), 0.02);

  public Partition(Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return "partition-" + kind.word;
  }

  @Override
  public Set<Ability> needs() {
    return Set.of(kind == Kind.SLOW ? Ability.SLOWNESS : Ability.CUTS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(15);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    String leader = Victim.LEADER.find(scene);
    List<String> others = new ArrayList<>();
    for (Role role : kind.others()) {
      scene.members(role).stream().filter(id -> !id.equals(leader)).forEach(others::add);
    }
    List<String> targets = new ArrayList<>(List.of(leader));
    targets.addAll(others);
    Failover failover =
        switch (kind) {
          case FROM_ETCD, TO_ETCD_ONE_WAY, FROM_ETCD_ONE_WAY, FROM_ALL -> Failover.FROM_INJECTION;
          // One that can write to etcd is never deposed, whomever else it can't reach.
          case FROM_WORKERS, FROM_STANDBYS, SLOW -> Failover.NONE;
        };
    scene.injected(name(), targets, failover, Bounds.LEASE);
    for (String other : others) {
      switch (kind) {
        case TO_ETCD_ONE_WAY -> scene.environment().impair(leader, other, Impairment.CUT);
        case FROM_ETCD_ONE_WAY -> scene.environment().impair(other, leader, Impairment.CUT);
        case FROM_ETCD, FROM_WORKERS, FROM_STANDBYS, FROM_ALL -> {
          scene.environment().impair(leader, other, Impairment.CUT);
          scene.environment().impair(other, leader, Impairment.CUT);
        }
        case SLOW -> {
          scene.environment().impair(leader, other, SLOWNESS);
          scene.environment().impair(other, leader, SLOWNESS);
        }
      }
    }
  }

  @Override
  public void heal(Scene scene) {
    scene.environment().restoreNetwork();
  }
}
