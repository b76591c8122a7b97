package dev.baton.coordination;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Strand.Timer;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.v1.LeaderRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's part in the election: sees who leads, campaigns when nobody does, keeps what it has
 * won, and gives it back.
 *
 * <p>The term is the mod revision of {@code leader}. Each campaign has a lease of its own, granted
 * ahead so that it costs one transaction, and ended for certain before the next campaign: a late
 * copy of an old campaign can't make a leader with nobody behind it.
 *
 * <p>It has a strand and a client that the loop does not use, so that load can't starve renewals;
 * but it renews only while the loop {@link #tick ticks}, so that a dead loop does not lead. The
 * methods may be called from any thread.
 */
public final class Leadership {
  private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

  /** TTL of the lease of a campaign, unless another is configured. */
  public static final Duration DEFAULT_TTL = Duration.ofSeconds(5);

  /** A head that must be read. */
  public static final long UNKNOWN_HEAD = -1;

  private static final long SILENT_LOOP_NANOS = Duration.ofSeconds(3).toNanos();
  private static final long TAKE_OVER_NANOS = Duration.ofSeconds(10).toNanos();
  private static final Duration CALL = Duration.ofMillis(500);

  /** Called on the leadership's strand. */
  public interface Listener {
    /** Who leads, as far as this node knows; null: nobody. */
    void onLeader(@Nullable LeaderRecord leader, long term);

    /**
     * This node leads; {@link #onLeader} was called before.
     *
     * @param headRevision mod revision of the journal's head when it won, since when nobody else
     *     can append; 0: there is none yet; {@link #UNKNOWN_HEAD}: the answer that told it is lost
     */
    void onWon(long term, long headRevision);

    /** This node leads no more, and its key is being removed. */
    void onLost(String reason);
  }

  /**
   * What became of an attempt to depose a leader.
   *
   * @param headRevision mod revision of the journal's head, if that it had moved is why the attempt
   *     failed; else 0
   */
  public record Deposition(boolean won, long headRevision) {
    static final Deposition NOT_NOW = new Deposition(false, 0);
    static final Deposition WON = new Deposition(true, 0);
  }

  private enum State {
    FOLLOWING,
    CAMPAIGNING,
    LEADING,
    /** The lease of the last campaign is not confirmed to be gone yet. */
    ENDING
  }

  private final Etcd etcd;
  private final Strand strand;
  private final RandomGenerator random;
  private final Keys keys;
  private final LeaderRecord me;
  private final Duration ttl;
  private final Listener listener;
  private final Backoff backoff;
  private final LeaderWatch watch;

  private State state = State.FOLLOWING;
  private boolean eligible;
  private boolean closed;
  private boolean seen;
  private long leaderRevision;
  private long leaderCreateRevision;
  private long term;
  private @Nullable OwnLease lease;
  private @Nullable Timer pause;
  private boolean granting;
  private final List<CompletableFuture<Void>> ends = new ArrayList<>();

  private volatile int leases;
  private volatile long deadlineNanos;
  private volatile long tickNanos;
  private volatile long wonNanos;
  private volatile boolean tookOver;

  public Leadership(
      Etcd etcd,
      Strand strand,
      RandomGenerator random,
      Keys keys,
      LeaderRecord me,
      Duration ttl,
      Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.random = random;
    this.keys = keys;
    this.me = me;
    this.ttl = ttl;
    this.listener = listener;
    this.backoff = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(5), random);
    this.watch = new LeaderWatch(etcd, strand, random, keys.leader(), this::onSeen);
    this.deadlineNanos = strand.nanoTime();
  }

  /** Begins to look who leads; it campaigns once it is eligible. */
  public void start() {
    strand.execute(watch::start);
  }

  /** Whether this node may campaign. One that leads goes on leading. */
  public void eligible(boolean value) {
    strand.execute(() -> {
      eligible = value;
      advance();
    });
  }

  /** The loop is alive: to be called at least once a second while this node leads. */
  public void tick() {
    tickNanos = strand.nanoTime();
  }

  /** The take-over is done; a leader that has not said so after ten seconds resigns. */
  public void tookOver() {
    tookOver = true;
  }

  /** Until when the lease is sure to hold, by the strand's clock; in the past: not leading. */
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /** Leases that etcd may know of: 0 or 1. */
  public int leases() {
    return leases;
  }

  /**
   * Gives leadership back if it is held, and is not eligible from now on. Done once etcd has
   * confirmed that nothing of it is left, or when it must have expired.
   */
  public CompletableFuture<Void> resign() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    strand.execute(() -> {
      eligible = false;
      ends.add(done);
      if (state == State.LEADING) {
        stepDown("it resigned");
      } else if (state == State.FOLLOWING && lease != null) {
        end();
      }
      if (!granting && state == State.FOLLOWING) {
        ended();
      } else {
        strand.schedule(ttl.plus(OwnLease.margin(ttl).multipliedBy(2)), () -> done.complete(null));
      }
    });
    return done;
  }

  /** Resigns and stops looking. */
  public CompletableFuture<Void> close() {
    strand.execute(() -> {
      closed = true;
      watch.close();
      if (pause != null) {
        pause.cancel();
      }
    });
    return resign();
  }

  private void onSeen(long revision, @Nullable KeyValue found) {
    long now = found == null ? 0 : found.modRevision();
    if (!seen || now != leaderRevision) {
      seen = true;
      leaderRevision = now;
      leaderCreateRevision = found == null ? 0 : found.createRevision();
      listener.onLeader(found == null ? null : record(found), now);
    }
    if (state == State.LEADING && now != term) {
      stepDown("the leader key is gone or another's");
    }
    if (found != null && isOrphan(found)) {
      // A campaign of ours that nobody stands behind; its lease must not be renewed by anybody.
      LOG.warn("The leader key of revision {} is ours, but nobody leads by it: revoked", now);
      Answer.of(etcd.revoke(found.leaseId(), CALL), strand, gone -> {}, failure -> {});
    }
    advance();
  }

  /**
   * Takes the place of a leader that is dead by evidence, without waiting for its lease: wins if it
   * still leads in {@code deadTerm}, and the journal's head still has the mod revision that it had
   * when the suspicion began. A leader that writes can't be deposed; for one that can't, a wrong
   * guess costs a fail-over and nothing else.
   */
  public CompletableFuture<Deposition> depose(long deadTerm, long headRevision) {
    CompletableFuture<Deposition> outcome = new CompletableFuture<>();
    strand.execute(() -> {
      OwnLease mine = lease;
      if (closed
          || !eligible
          || state != State.FOLLOWING
          || mine == null
          || !mine.isAlive()
          || leaderRevision != deadTerm) {
        outcome.complete(Deposition.NOT_NOW);
      } else {
        depose(mine, deadTerm, headRevision, outcome);
      }
    });
    return outcome;
  }

  private void depose(
      OwnLease mine, long deadTerm, long headRevision, CompletableFuture<Deposition> outcome) {
    state = State.CAMPAIGNING;
    long created = leaderCreateRevision;
    Answer.of(
        etcd.txn(
            new Txn(
                List.of(
                    new Compare.ModRevision(keys.leader(), deadTerm),
                    new Compare.ModRevision(keys.head(), headRevision)),
                List.of(new Op.Put(keys.leader(), me.toByteString(), mine.id())),
                List.of(new Op.Get(keys.leader()), new Op.Get(keys.head()))),
            CALL),
        strand,
        reply -> {
          if (reply.succeeded()) {
            won(
                mine,
                new KeyValue(
                    keys.leader(), me.toByteString(), created, reply.revision(), mine.id()),
                headRevision);
            outcome.complete(state == State.LEADING ? Deposition.WON : Deposition.NOT_NOW);
            return;
          }
          // Term and head only grow, so no late copy of this can win: the lease stays.
          state = State.FOLLOWING;
          watch.seen(reply.revision(), reply.find(keys.leader()).orElse(null));
          outcome.complete(
              leaderRevision == deadTerm
                  ? new Deposition(false, revisionOf(reply, keys.head()))
                  : Deposition.NOT_NOW);
          advance();
        },
        failure -> {
          outcome.complete(Deposition.NOT_NOW);
          afterFailure(mine, failure);
        });
  }

  private boolean isOrphan(KeyValue found) {
    if (found.leaseId() == 0 || state != State.FOLLOWING) {
      return false;
    }
    LeaderRecord leader = record(found);
    return leader.getNodeId().equals(me.getNodeId())
        && leader.getIncarnation().equals(me.getIncarnation());
  }

  private static LeaderRecord record(KeyValue found) {
    try {
      return LeaderRecord.parseFrom(found.value());
    } catch (InvalidProtocolBufferException e) {
      LOG.warn("The leader key of revision {} can't be read", found.modRevision(), e);
      return LeaderRecord.getDefaultInstance();
    }
  }

  /** Does what can be done now towards leading. */
  private void advance() {
    if (closed || !eligible || state != State.FOLLOWING || granting || pause != null) {
      return;
    }
    if (lease == null) {
      grant();
    } else if (seen && leaderRevision == 0) {
      campaign(lease);
    }
  }

  private void grant() {
    granting = true;
    leases = 1;
    Answer.of(
        OwnLease.grant(etcd, strand, random, ttl, new LeaseListener()),
        strand,
        granted -> {
          granting = false;
          backoff.reset();
          lease = granted;
          if (closed || !eligible) {
            end();
          } else {
            advance();
          }
        },
        failure -> {
          granting = false;
          leases = 0;
          advanceAfter(backoff.next());
          ended();
        });
  }

  private void campaign(OwnLease mine) {
    state = State.CAMPAIGNING;
    Answer.of(
        etcd.txn(
            new Txn(
                List.of(new Compare.ModRevision(keys.leader(), 0)),
                List.of(
                    new Op.Put(keys.leader(), me.toByteString(), mine.id()),
                    new Op.Get(keys.head())),
                List.of(new Op.Get(keys.leader()))),
            CALL),
        strand,
        reply -> {
          if (reply.succeeded()) {
            won(
                mine,
                new KeyValue(
                    keys.leader(),
                    me.toByteString(),
                    reply.revision(),
                    reply.revision(),
                    mine.id()),
                revisionOf(reply, keys.head()));
          } else {
            judge(mine, reply.revision(), reply.find(keys.leader()).orElse(null));
          }
        },
        failure -> afterFailure(mine, failure));
  }

  private void afterFailure(OwnLease mine, EtcdException failure) {
    if (failure.isUnknown()) {
      advanceAfter(backoff.next());
      resolve(mine);
    } else {
      lose(failure);
    }
  }

  /** The answer to a campaign is lost: the key itself says how it ended. */
  private void resolve(OwnLease mine) {
    if (!mine.isAlive()) {
      end();
      return;
    }
    Answer.of(
        etcd.get(keys.leader(), CALL),
        strand,
        reply -> judge(mine, reply.revision(), reply.keyValue()),
        failure -> {
          if (failure.kind() == Kind.CLOSED) {
            end();
          } else {
            strand.schedule(backoff.next(), () -> resolve(mine));
          }
        });
  }

  private void judge(OwnLease mine, long revision, @Nullable KeyValue found) {
    if (found != null && found.leaseId() == mine.id()) {
      won(mine, found, UNKNOWN_HEAD);
    } else {
      end();
      watch.seen(revision, found);
    }
  }

  private void lose(EtcdException failure) {
    LOG.info("A campaign failed: {}", failure.getMessage());
    advanceAfter(backoff.next());
    end();
  }

  private static long revisionOf(TxnReply reply, ByteString key) {
    return reply.find(key).map(KeyValue::modRevision).orElse(0L);
  }

  private void won(OwnLease mine, KeyValue leader, long headRevision) {
    if (closed || !eligible || !mine.isAlive()) {
      end();
      return;
    }
    backoff.reset();
    watch.seen(leader.modRevision(), leader);
    if (leaderRevision != leader.modRevision()) {
      // Won and lost again before the answer came.
      end();
      return;
    }
    state = State.LEADING;
    term = leader.modRevision();
    tookOver = false;
    wonNanos = strand.nanoTime();
    tickNanos = wonNanos;
    deadlineNanos = mine.deadlineNanos();
    mine.guard(keys.leader(), leader.createRevision());
    mine.renewOnlyWhile(this::isWorking);
    listener.onWon(term, headRevision);
  }

  private boolean isWorking() {
    long now = strand.nanoTime();
    return now - tickNanos < SILENT_LOOP_NANOS && (tookOver || now - wonNanos < TAKE_OVER_NANOS);
  }

  private void stepDown(String reason) {
    state = State.ENDING;
    deadlineNanos = strand.nanoTime();
    listener.onLost(reason);
    // Beside the revocation: whichever comes first frees the key.
    Answer.of(
        etcd.txn(
            new Txn(
                List.of(new Compare.ModRevision(keys.leader(), term)),
                List.of(new Op.Delete(keys.leader())),
                List.of(new Op.Get(keys.leader()))),
            CALL),
        strand,
        deleted -> {},
        failure -> {});
    end();
  }

  /** Ends the lease of the campaign; the next one begins after that. */
  private void end() {
    OwnLease mine = lease;
    state = State.ENDING;
    lease = null;
    if (mine == null) {
      ended();
      return;
    }
    mine.revoke(() -> {
      leases = 0;
      ended();
    });
  }

  private void ended() {
    state = State.FOLLOWING;
    ends.forEach(done -> done.complete(null));
    ends.clear();
    advance();
  }

  private void advanceAfter(Duration time) {
    if (pause != null) {
      pause.cancel();
    }
    pause =
        strand.schedule(
            time,
            () -> {
              pause = null;
              advance();
            });
  }

  private final class LeaseListener implements OwnLease.Listener {
    @Override
    public void onRenewed(long renewedUntil) {
      if (state == State.LEADING) {
        deadlineNanos = renewedUntil;
      }
    }

    @Override
    public void onLost(String reason) {
      switch (state) {
        case LEADING -> stepDown(reason);
        case FOLLOWING -> {
          advanceAfter(backoff.next());
          end();
        }
        // The answer of the campaign decides: a lease that is not alive can't win.
        case CAMPAIGNING, ENDING -> {}
      }
    }
  }
}
