package dev.baton.chaos.nemesis;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.cli.cluster.Daemon.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * One member is cut off from some of the others, in both directions or in one, or its network is
 * slow and loses packets.
 */
public final class Partition implements Fault {
  private static final Impairment SLOWNESS = Impairment.slow(Duration.ofMillis(40), 0.02);

  private final Kind kind;

  private enum Way {
    BOTH,
    /** What it sends does not arrive; what it is sent does. */
    OUT,
    IN
  }

  /** Who is cut off from whom, and how. */
  public enum Kind {
    FROM_ETCD("leader-from-etcd", Victim.LEADER, Way.BOTH),
    TO_ETCD_ONE_WAY("leader-to-etcd-one-way", Victim.LEADER, Way.OUT),
    FROM_ETCD_ONE_WAY("etcd-to-leader-one-way", Victim.LEADER, Way.IN),
    FROM_WORKERS("leader-from-workers", Victim.LEADER, Way.BOTH),
    FROM_STANDBYS("leader-from-standbys", Victim.LEADER, Way.BOTH),
    FROM_ALL("leader-from-all", Victim.LEADER, Way.BOTH),
    SLOW("leader-slow", Victim.LEADER, Way.BOTH),
    /** Schedulers and workers reach all members, so some talk to one that can't answer. */
    ETCD_LEADER("etcd-leader-from-members", Victim.ETCD_LEADER, Way.BOTH),
    ETCD_LEADER_OUT("etcd-leader-to-members-one-way", Victim.ETCD_LEADER, Way.OUT),
    ETCD_LEADER_IN("members-to-etcd-leader-one-way", Victim.ETCD_LEADER, Way.IN);

    private final String word;
    private final Victim victim;
    private final Way way;

    Kind(String word, Victim victim, Way way) {
      this.word = word;
      this.victim = victim;
      this.way = way;
    }

    /** All that are done to this one. */
    public static List<Kind> of(Victim victim) {
      return Arrays.stream(values()).filter(kind -> kind.victim == victim).toList();
    }

    private List<Role> others() {
      return switch (this) {
        case FROM_WORKERS -> List.of(Role.WORKER);
        case FROM_STANDBYS -> List.of(Role.SCHEDULER);
        case FROM_ALL, SLOW -> List.of(Role.values());
        default -> List.of(Role.ETCD);
      };
    }

    private Impairment impairment() {
      return this == SLOW ? SLOWNESS : Impairment.CUT;
    }

    /** A leader that can write to etcd is never deposed, whomever else it can't reach. */
    private Failover failover() {
      return victim == Victim.LEADER && others().contains(Role.ETCD) && this != SLOW
          ? Failover.FROM_INJECTION
          : Failover.NONE;
    }
  }

  public Partition(Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return "partition-" + kind.word;
  }

  @Override
  public Set<Ability> needs() {
    if (kind == Kind.SLOW) {
      return Set.of(Ability.SLOWNESS);
    }
    return Set.of(kind.victim == Victim.ETCD_LEADER ? Ability.ETCD_CUTS : Ability.CUTS);
  }

  @Override
  public Duration duration() {
    return Duration.ofSeconds(15);
  }

  @Override
  public void inject(Scene scene) throws InterruptedException {
    String victim = kind.victim.find(scene);
    List<String> targets = new ArrayList<>(List.of(victim));
    for (Role role : kind.others()) {
      scene.members(role).stream().filter(id -> !id.equals(victim)).forEach(targets::add);
    }
    scene.injected(name(), targets, kind.failover(), Bounds.LEASE);
    for (String other : targets.subList(1, targets.size())) {
      if (kind.way != Way.IN) {
        scene.environment().impair(victim, other, kind.impairment());
      }
      if (kind.way != Way.OUT) {
        scene.environment().impair(other, victim, kind.impairment());
      }
    }
  }

  @Override
  public void heal(Scene scene) {
    scene.environment().restoreNetwork();
  }
}
