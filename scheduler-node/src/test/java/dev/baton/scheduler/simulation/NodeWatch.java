package dev.baton.scheduler.simulation;

import dev.baton.scheduler.loop.LoopListener;
import dev.baton.scheduler.loop.Role;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.simulation.Coverage.Sight;
import java.time.Duration;

/** Hears what a node's loop tells of itself, and asks it again and again for its state. */
final class NodeWatch implements LoopListener {
  private static final Duration ASK_AGAIN = Duration.ofSeconds(1);
  private static final int ENTRIES_AHEAD = 4;
  private static final Duration LONGEST = Duration.ofDays(1);

  private final Cluster cluster;
  private final String id;
  private Role role = Role.LOADING;
  private long term;
  private long leadsSinceNanos;
  private long firstStandbyNanos = Long.MAX_VALUE;

  NodeWatch(Cluster cluster, String id) {
    this.cluster = cluster;
    this.id = id;
  }

  Role role() {
    return role;
  }

  boolean isLeading() {
    return role == Role.LEADING;
  }

  /** The term that it leads, or has led last. */
  long term() {
    return term;
  }

  /** True time since which it leads. */
  long leadsSinceNanos() {
    return leadsSinceNanos;
  }

  /** From now on its state is compared with the journal, at entries that are compared at all. */
  void begin(SchedulerLoop loop) {
    askAt(0, loop);
  }

  /**
   * A read that waits for an entry is answered when the node has come to it, and before it goes on.
   * The next is asked for within the answer, so early that it will have to wait: a leader's state
   * is not to be compared in the middle of an entry.
   */
  private void askAt(long seq, SchedulerLoop loop) {
    boolean[] goesOn = new boolean[1];
    loop.read(
        seq,
        LONGEST,
        view -> {
          goesOn[0] = true;
          if (view.seq() == seq) {
            cluster.observer().claim(id, seq, view.state());
          }
          askAt(JournalObserver.comparedAfter(view.seq() + ENTRIES_AHEAD), loop);
          return seq;
        },
        (asked, refusal) -> {
          if (refusal != null && !goesOn[0]) {
            again(loop);
          }
        });
  }

  private void again(SchedulerLoop loop) {
    cluster.network().after(ASK_AGAIN, () -> begin(loop));
  }

  @Override
  public void onRole(Role next, long newTerm) {
    cluster.trace().add(id, "is " + next + (newTerm == 0 ? "" : " of term " + newTerm));
    if (role == Role.LEADING && next != Role.STOPPED) {
      cluster.coverage().see(Sight.TERM_LOST);
    }
    role = next;
    if (next == Role.LEADING) {
      term = newTerm;
      leadsSinceNanos = cluster.world().nanoTime();
      cluster.leads(term, firstStandbyNanos);
    } else if (next == Role.STANDBY && firstStandbyNanos == Long.MAX_VALUE) {
      firstStandbyNanos = cluster.world().nanoTime();
    } else if (next == Role.STOPPED) {
      cluster.coverage().see(Sight.RESIGNED);
    }
  }

  @Override
  public void onStalled(boolean stalled) {
    if (stalled) {
      cluster.coverage().see(Sight.STALLED);
      cluster.trace().add(id, "is stalled");
    }
  }

  @Override
  public void onFault(String what) {
    cluster.trace().add(id, "fault: " + what);
    cluster.judge().check(Invariant.FAULTLESS, what.isEmpty(), "%s reports a fault: %s", id, what);
  }

  void onFatal(String why) {
    cluster.judge().check(Invariant.FAULTLESS, why.isEmpty(), "%s gives up: %s", id, why);
  }

  @Override
  public void onInventory() {
    cluster.coverage().see(Sight.INVENTORY);
  }

  @Override
  public void onLoaded(int keysRead, Duration took) {
    cluster.coverage().see(Sight.LOAD);
    if (cluster.observer().hasBegun() && cluster.observer().state().installedSnapshot() > 0) {
      cluster.coverage().see(Sight.LOAD_OF_A_SNAPSHOT);
    }
  }

  @Override
  public void onDeposed(String evidence) {
    cluster.trace().add(id, "has deposed a leader: " + evidence);
    cluster
        .coverage()
        .see(
            switch (evidence) {
              case "refused" -> Sight.DEPOSED_REFUSED;
              case "restarted" -> Sight.DEPOSED_RESTARTED;
              default -> Sight.DEPOSED_SILENT;
            });
  }

  @Override
  public void onWrongGuess() {
    cluster.coverage().see(Sight.WRONG_GUESS);
  }

  @Override
  public void onTakeOver(int keysRead, Duration took) {
    if (keysRead > 0) {
      cluster.coverage().see(Sight.TAKE_OVER_READ_MORE);
    }
  }
}
