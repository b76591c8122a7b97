package dev.baton.coordination.simulation;

import dev.baton.coordination.simulation.World.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The three members: which of them leads, which hang, which is cut off from the others, and who
 * waits for them.
 *
 * <p>All of them agree on one store; without a leader nothing is written, and nothing is read that
 * must be true.
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

  /** What a member knows that is cut off from the others, and since when. */
  private final @Nullable Isolation[] isolated = new Isolation[COUNT];

  private final List<Held> heldByMember = new ArrayList<>();
  private final Held heldUntilLed;
  private int leader;
  private long raftTerm = 2;
  private long leaderlessSinceNanos;
  private @Nullable Event election;

  private record Isolation(long revision, long sinceNanos) {}

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

  boolean isIsolated(int member) {
    return isolated[member] != null;
  }

  /** A member is in touch with a leader. */
  boolean isLed(int member) {
    return isLed() && !isIsolated(member);
  }

  /** For so long a member has known of no leader; 0: it knows one. */
  long leaderlessNanos(int member) {
    Isolation isolation = isolated[member];
    if (isolation != null) {
      return world.nanoTime() - isolation.sinceNanos;
    }
    return isLed() ? 0 : world.nanoTime() - leaderlessSinceNanos;
  }

  /** The newest revision that a member can know. */
  long known(int member, long newest) {
    Isolation isolation = isolated[member];
    return isolation == null ? newest : isolation.revision;
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
    comeBack(member);
  }

  /** It hears nothing of the others, nor they of it; clients reach it. */
  void isolate(int member, long revision) {
    if (isolated[member] == null) {
      isolated[member] = new Isolation(revision, world.nanoTime());
      if (member == leader || !isQuorum()) {
        loseLeader();
      }
    }
  }

  void rejoin(int member) {
    isolated[member] = null;
    comeBack(member);
  }

  private void comeBack(int member) {
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
    } while (!isInTouch(leader));
    raftTerm++;
    leases.beginAgain();
    heldUntilLed.release();
  }

  private boolean isQuorum() {
    int inTouch = 0;
    for (int member = 0; member < COUNT; member++) {
      inTouch += isInTouch(member) ? 1 : 0;
    }
    return inTouch >= QUORUM;
  }

  private boolean isInTouch(int member) {
    return !hanging[member] && !isIsolated(member);
  }
}
