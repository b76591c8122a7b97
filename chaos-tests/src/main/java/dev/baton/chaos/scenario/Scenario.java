package dev.baton.chaos.scenario;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.nemesis.ClockJump;
import dev.baton.chaos.nemesis.EtcdQuorumLoss;
import dev.baton.chaos.nemesis.Fault;
import dev.baton.chaos.nemesis.Flapping;
import dev.baton.chaos.nemesis.FullDisk;
import dev.baton.chaos.nemesis.KillLeaderAndEtcdLeader;
import dev.baton.chaos.nemesis.Partition;
import dev.baton.chaos.nemesis.ProcessFault;
import dev.baton.chaos.nemesis.ProcessFault.Kind;
import dev.baton.chaos.nemesis.RollingRestart;
import dev.baton.chaos.nemesis.ScaleWorkers;
import dev.baton.chaos.nemesis.Together;
import dev.baton.chaos.nemesis.Victim;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * What happens to a cluster, round by round.
 *
 * @param rounds unless the user says otherwise
 * @param wanted abilities that must be prepared before the start
 * @param course chooses the fault of a round; what it draws follows from the seed
 */
public record Scenario(
    String name, String description, int rounds, Set<Ability> wanted, Course course) {

  private static final List<Partition.Kind> PARTITIONS = Partition.Kind.of(Victim.LEADER);
  private static final List<Partition.Kind> ETCD_PARTITIONS = Partition.Kind.of(Victim.ETCD_LEADER);

  /** Chooses faults. */
  public interface Course {
    /**
     * The fault of one round.
     *
     * @param round from 1
     * @param abilities of the environment
     */
    Fault fault(int round, RandomGenerator random, Set<Ability> abilities);
  }

  public Scenario {
    wanted = Set.copyOf(wanted);
  }

  private static Scenario of(String name, String description, int rounds, Course course) {
    return new Scenario(name, description, rounds, EnumSet.of(Ability.SIGNALS), course);
  }

  /** All scenarios, in the order in which they are listed. */
  public static List<Scenario> all() {
    return List.of(
        of(
            "smoke",
            "kills the leader, kills a worker, terminates the leader",
            3,
            (round, random, abilities) ->
                switch ((round - 1) % 3) {
                  case 0 -> new ProcessFault(Kind.KILL, Victim.LEADER);
                  case 1 -> new ProcessFault(Kind.KILL, Victim.WORKER);
                  default -> new ProcessFault(Kind.TERMINATE, Victim.LEADER);
                }),
        of(
            "terminate-leader",
            "SIGTERM to the leader: it resigns",
            5,
            (round, random, abilities) -> new ProcessFault(Kind.TERMINATE, Victim.LEADER)),
        of(
            "kill-leader",
            "SIGKILL to the leader",
            5,
            (round, random, abilities) -> new ProcessFault(Kind.KILL, Victim.LEADER)),
        of(
            "stop-leader",
            "SIGSTOP to the leader, which wakes up past its lease",
            5,
            (round, random, abilities) -> new ProcessFault(Kind.STOP, Victim.LEADER)),
        of(
            "kill-standby",
            "SIGKILL to a scheduler that does not lead",
            3,
            (round, random, abilities) -> new ProcessFault(Kind.KILL, Victim.STANDBY)),
        new Scenario(
            "partition-leader",
            "cuts the leader off from etcd, workers, standbys, all; one way; slow with loss",
            PARTITIONS.size(),
            EnumSet.of(Ability.SIGNALS, Ability.CUTS, Ability.SLOWNESS),
            (round, random, abilities) ->
                new Partition(PARTITIONS.get((round - 1) % PARTITIONS.size()))),
        new Scenario(
            "isolate-leader",
            "cuts the leader off from everybody",
            3,
            EnumSet.of(Ability.SIGNALS, Ability.CUTS),
            (round, random, abilities) -> new Partition(Partition.Kind.FROM_ALL)),
        new Scenario(
            "partition-etcd-leader",
            "cuts the leader of etcd off from its other members; one way, the other, both",
            ETCD_PARTITIONS.size(),
            EnumSet.of(Ability.SIGNALS, Ability.ETCD_CUTS),
            (round, random, abilities) ->
                new Partition(ETCD_PARTITIONS.get((round - 1) % ETCD_PARTITIONS.size()))),
        of(
            "kill-worker",
            "SIGKILL to a worker",
            4,
            (round, random, abilities) -> new ProcessFault(Kind.KILL, Victim.WORKER)),
        of(
            "stop-worker",
            "SIGSTOP to a worker, which wakes up after its lease has ended",
            3,
            (round, random, abilities) -> new ProcessFault(Kind.STOP, Victim.WORKER)),
        of(
            "kill-etcd-member",
            "SIGKILL to a member of etcd that does not lead",
            3,
            (round, random, abilities) -> new ProcessFault(Kind.KILL, Victim.ETCD_MEMBER)),
        of(
            "kill-etcd-leader",
            "SIGKILL to the leader of etcd",
            3,
            (round, random, abilities) -> new ProcessFault(Kind.KILL, Victim.ETCD_LEADER)),
        of(
            "kill-leader-and-etcd-leader",
            "SIGKILL to the leader and to the leader of etcd together",
            3,
            (round, random, abilities) -> new KillLeaderAndEtcdLeader()),
        of(
            "etcd-quorum-loss",
            "two of three members of etcd are killed, then stopped, for 30 s",
            2,
            (round, random, abilities) -> new EtcdQuorumLoss(round % 2 == 1)),
        of(
            "rolling-restart",
            "every process is told to end and started again, one after the other",
            1,
            (round, random, abilities) -> new RollingRestart()),
        of(
            "flapping",
            "ten leaders in a minute, each killed and started again at once",
            1,
            (round, random, abilities) -> new Flapping()),
        new Scenario(
            "clock-jump",
            "ten minutes ahead or behind: the leader's clock, then a standby's as the leader ends",
            6,
            EnumSet.of(Ability.SIGNALS, Ability.CLOCKS),
            (round, random, abilities) -> clockJump(round)),
        new Scenario(
            "disk-full",
            "no room on the disk of a member of etcd, then of its leader",
            2,
            EnumSet.of(Ability.SIGNALS, Ability.DISK),
            (round, random, abilities) ->
                new FullDisk(round % 2 == 1 ? Victim.ETCD_MEMBER : Victim.ETCD_LEADER)),
        new Scenario(
            "scale-workers",
            "two workers come, then two others leave",
            2,
            EnumSet.of(Ability.SIGNALS, Ability.SCALE),
            (round, random, abilities) -> new ScaleWorkers()),
        new Scenario(
            "mixed",
            "one to four faults at once, drawn from all of the above",
            6,
            EnumSet.of(
                Ability.SIGNALS, Ability.CUTS, Ability.ETCD_CUTS, Ability.SLOWNESS, Ability.CLOCKS),
            new MixedCourse()));
  }

  /** Of the leader alone; then of a standby while the leader ends, so that it may follow it. */
  private static Fault clockJump(int round) {
    Duration by = Duration.ofMinutes(round % 2 == 1 ? 10 : -10);
    return switch ((round - 1) / 2 % 3) {
      case 0 -> new ClockJump(Victim.LEADER, by);
      case 1 -> afterAJump(by, Kind.TERMINATE);
      default -> afterAJump(by, Kind.KILL);
    };
  }

  private static Fault afterAJump(Duration by, Kind kind) {
    return new Together(
        List.of(new ClockJump(Victim.STANDBY, by), new ProcessFault(kind, Victim.LEADER)));
  }

  public static Optional<Scenario> find(String name) {
    return all().stream().filter(scenario -> scenario.name().equals(name)).findFirst();
  }
}
