package dev.baton.coordination.simulation;

import dev.baton.coordination.simulation.World.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The three members: which of them leads, which hang, and who waits for them.
 *
 * <p>All of them agree on one store; without a leader nothing is read or written.
 */
final class Members {
  static final int COUNT = 3;
  private static final int QUORUM = 2;
  private static final long SHORTEST_ELECTION_NANOS = Duration.ofMillis(100).toNanos();
  private static final long LONGEST_ELECTION_NANOS = Duration.ofSeconds(4).toNanos();

  private final World world;
  private final Leases leases;
  private final Counts counts;
  private final boolean[] hanging = new boolean[COUNT];
  private final List<Held> heldByMember = new ArrayList<>();
  private final Held heldUntilLed;
  private int leader;
  private long raftTerm = 2;
  private long leaderlessSinceNanos;
  private @Nullable Event election;

  Members(World world, Leases leases, Counts counts) {
    this.world = world;
    this.leases = leases;
    this.counts = counts;
    this.leader = world.random().nextInt(COUNT);
    this.heldUntilLed = new Held(world);
    for (int i = 0; i < COUNT; i++) {
      heldByMember.add(new Held(world));
    }
  }

  boolean isHanging(int member) {
    return hanging[member];
  }

  boolean isLed() {
    return leader >= 0;
  }

  /** For so long nobody has led; 0: somebody does. */
  long leaderlessNanos() {
    return isLed() ? 0 : world.nanoTime() - leaderlessSinceNanos;
  }

  int leader() {
    return leader;
  }

  long raftTerm() {
    return raftTerm;
  }

  /** What arrives at a member that hangs. */
  void holdAt(int member, Runnable arrival) {
    heldByMember.get(member).add(arrival);
  }

  /** What arrives while nobody leads. */
  void holdUntilLed(Runnable arrival) {
    heldUntilLed.add(arrival);
  }

  void hang(int member) {
    hanging[member] = true;
    if (member == leader || !isQuorum()) {
      loseLeader();
    }
  }

  void resume(int member) {
    hanging[member] = false;
    heldByMember.get(member).release();
    if (!isLed() && election == null) {
      callElection();
    }
  }

  void loseLeader() {
    if (isLed()) {
      leader = -1;
      leaderlessSinceNanos = world.nanoTime();
      counts.add(Happening.ELECTION);
      leases.stopCounting();
      callElection();
    }
  }

  private void callElection() {
    // Most are short.
    long atMost = world.random().nextLong(SHORTEST_ELECTION_NANOS, LONGEST_ELECTION_NANOS);
    long takes = world.random().nextLong(SHORTEST_ELECTION_NANOS, atMost + 1);
    election = world.at(world.nanoTime() + takes, this::elect);
  }

  private void elect() {
    election = null;
    if (!isQuorum()) {
      return; // The next member that comes back calls one again.
    }
    do {
      leader = world.random().nextInt(COUNT);
    } while (hanging[leader]);
    raftTerm++;
    leases.beginAgain();
    heldUntilLed.release();
  }

  private boolean isQuorum() {
    int live = 0;
    for (boolean hangs : hanging) {
      live += hangs ? 0 : 1;
    }
    return live >= QUORUM;
  }
}
