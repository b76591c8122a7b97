package dev.baton.scheduler.loop;

import dev.baton.coordination.FailureDetector;
import dev.baton.coordination.Leadership;
import dev.baton.proto.v1.LeaderRecord;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whom this node sees leading, and the eye that it keeps on that node while it follows it. Used on
 * the loop's strand; only the view may be read from any thread.
 */
final class LeaderSight implements FailureDetector.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderSight.class);

  private final Loop loop;
  private @Nullable FailureDetector detector;
  private long leaderlessSinceNanos;
  private volatile LeaderView view = new LeaderView(null, 0, false);

  LeaderSight(Loop loop) {
    this.loop = loop;
  }

  /**
   * @param headRevision of the newest head that came; it moves while the leader lives
   */
  void start(Leadership leadership, LongSupplier headRevision) {
    leaderlessSinceNanos = loop.strand().nanoTime();
    detector =
        new FailureDetector(
            loop.strand(), loop.random(), loop.peers(), headRevision, leadership::depose, this);
  }

  LeaderView view() {
    return view;
  }

  /** Etcd says who leads; null: nobody. */
  void sees(@Nullable LeaderRecord leader, long term, boolean isThisTerm) {
    view = new LeaderView(leader, term, isThisTerm);
    leaderlessSinceNanos = leader == null ? loop.strand().nanoTime() : 0;
  }

  /** This node leads; {@code view().leader()} is told later. */
  void leads(long term) {
    view = new LeaderView(view.leader(), term, true);
  }

  void leadsNoMore() {
    view = new LeaderView(view.leader(), view.term(), false);
  }

  boolean isAnother(LeaderRecord leader) {
    return !leader.getNodeId().equals(loop.settings().nodeId());
  }

  /** Nobody was seen leading for longer than this. */
  boolean isMissing(Duration bound) {
    return leaderlessSinceNanos != 0
        && loop.strand().nanoTime() - leaderlessSinceNanos > bound.toNanos();
  }

  /** Watches the leader's life while this node follows. */
  void watch(boolean follows) {
    LeaderRecord leader = view.leader();
    if (detector != null) {
      detector.watch(follows && leader != null && isAnother(leader) ? leader : null, view.term());
    }
  }

  void close() {
    if (detector != null) {
      detector.close();
    }
  }

  @Override
  public void onDeposed(LeaderRecord leader, long term, FailureDetector.Evidence evidence) {
    loop.listener().onDeposed(evidence.name().toLowerCase(Locale.ROOT));
    LOG.info("Node {}, the leader of term {}, was deposed: {}", leader.getNodeId(), term, evidence);
  }

  @Override
  public void onWrongGuess(LeaderRecord leader) {
    loop.listener().onWrongGuess();
    LOG.warn(
        "Node {} was deposed but lives: it is given twice the time from now on",
        leader.getNodeId());
  }
}
