package dev.baton.chaos.scenario;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.nemesis.ClockJump;
import dev.baton.chaos.nemesis.EtcdQuorumLoss;
import dev.baton.chaos.nemesis.Fault;
import dev.baton.chaos.nemesis.KillLeaderAndEtcdLeader;
import dev.baton.chaos.nemesis.Partition;
import dev.baton.chaos.nemesis.ProcessFault;
import dev.baton.chaos.nemesis.ProcessFault.Kind;
import dev.baton.chaos.nemesis.Together;
import dev.baton.chaos.nemesis.Victim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * One fault to the schedulers, and perhaps one to a worker, one to etcd and a wrong clock, at the
 * same time. Of the schedulers one at most is ended, stopped or cut off, so that there is always
 * somebody who can lead.
 */
final class MixedCourse implements Scenario.Course {
  @Override
  public Fault fault(int round, RandomGenerator random, Set<Ability> abilities) {
    List<Fault> faults = new ArrayList<>();
    if (random.nextInt(4) == 0 && abilities.contains(Ability.CLOCKS)) {
      // Before the others: they may leave nobody who leads for a while.
      faults.add(clockJump(random));
    }
    Fault first = any(able(schedulerFaults(random), abilities), random);
    faults.add(first);
    if (random.nextInt(3) > 0) {
      faults.add(any(able(workerFaults(), abilities), random));
    }
    // With another member of etcd down beside its leader nobody could lead.
    if (random.nextInt(3) == 0 && !(first instanceof KillLeaderAndEtcdLeader)) {
      faults.add(any(able(etcdFaults(), abilities), random));
    }
    return faults.size() == 1 ? faults.getFirst() : new Together(faults);
  }

  private static Fault clockJump(RandomGenerator random) {
    Victim victim = random.nextBoolean() ? Victim.LEADER : Victim.STANDBY;
    return new ClockJump(victim, Duration.ofMinutes(random.nextBoolean() ? 10 : -10));
  }

  private static List<Fault> schedulerFaults(RandomGenerator random) {
    List<Partition.Kind> kinds = Partition.Kind.of(Victim.LEADER);
    return List.of(
        new ProcessFault(Kind.KILL, Victim.LEADER),
        new ProcessFault(Kind.STOP, Victim.LEADER),
        new ProcessFault(Kind.TERMINATE, Victim.LEADER),
        new ProcessFault(Kind.KILL, Victim.STANDBY),
        new KillLeaderAndEtcdLeader(),
        new Partition(kinds.get(random.nextInt(kinds.size()))),
        new Partition(kinds.get(random.nextInt(kinds.size()))));
  }

  private static List<Fault> workerFaults() {
    return List.of(
        new ProcessFault(Kind.KILL, Victim.WORKER),
        new ProcessFault(Kind.STOP, Victim.WORKER),
        new ProcessFault(Kind.TERMINATE, Victim.WORKER));
  }

  private static List<Fault> etcdFaults() {
    return List.of(
        new ProcessFault(Kind.STOP, Victim.ETCD_MEMBER),
        new ProcessFault(Kind.STOP, Victim.ETCD_LEADER),
        new Partition(Partition.Kind.ETCD_LEADER),
        new EtcdQuorumLoss(false));
  }

  private static List<Fault> able(List<Fault> faults, Set<Ability> abilities) {
    return faults.stream().filter(fault -> abilities.containsAll(fault.needs())).toList();
  }

  private static Fault any(List<Fault> faults, RandomGenerator random) {
    return faults.get(random.nextInt(faults.size()));
  }
}
