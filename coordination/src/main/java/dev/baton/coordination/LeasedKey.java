package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Strand.Timer;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Holds one key under one lease of its own: the presence of a node or worker.
 *
 * <p>It creates the key if it is absent, keeps it, and when lease or key are lost it tells so and
 * creates it again under a fresh lease. While another holds the key it has no lease and looks twice
 * a second. There is at most one lease at a time: the next is asked for once etcd has confirmed the
 * end of the one before.
 *
 * <p>All work is done on the strand; the methods may be called from any thread.
 */
public final class LeasedKey {
  private static final Duration CALL = Duration.ofSeconds(1);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(2);

  /** Called on the strand. */
  public interface Listener {
    /** The key is ours. */
    void onHeld(long createRevision, long leaseId);

    /** Another holds it; told once for each time that one has created it. */
    void onTaken(KeyValue holder);

    /** It was ours and is not any more, or can't be relied on; it is tried for again. */
    void onLost(String reason);

    /** A try to get it has failed; the next comes after the pause. */
    default void onRetry(EtcdException failure, Duration pause) {}
  }

  private final Etcd etcd;
  private final Strand strand;
  private final RandomGenerator random;
  private final Backoff backoff;
  private final ByteString key;
  private final Duration ttl;
  private final Listener listener;

  private ByteString value;
  private @Nullable OwnLease lease;
  private @Nullable OwnLease ending;
  private volatile int leases;
  private volatile @Nullable Standing standing;
  private boolean held;
  private long createRevision;
  private long modRevision;
  private boolean writing;
  private boolean dirty;
  private long takenAt;
  private boolean closed;
  private final List<CompletableFuture<Void>> closing = new ArrayList<>();
  private @Nullable Timer timer;

  /** What etcd has confirmed last, and how long that can be relied on. */
  private record Standing(long leaseId, long deadlineNanos) {}

  public LeasedKey(
      Etcd etcd,
      Strand strand,
      RandomGenerator random,
      ByteString key,
      ByteString value,
      Duration ttl,
      Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.random = random;
    this.backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5), random);
    this.key = key;
    this.value = value;
    this.ttl = ttl;
    this.listener = listener;
  }

  public void start() {
    strand.execute(this::look);
  }

  /** The value from now on; a held key is rewritten under the same lease. */
  public void update(ByteString newValue) {
    strand.execute(() -> {
      if (!newValue.equals(value)) {
        value = newValue;
        dirty = true;
        write();
      }
    });
  }

  /**
   * The lease under which the key stands; 0: none does, or etcd has not confirmed it for so long
   * that it may have ended, as when this process stood still. From any thread.
   */
  public long confirmedLease() {
    Standing last = standing;
    return last != null && strand.nanoTime() - last.deadlineNanos() < 0 ? last.leaseId() : 0;
  }

  /** Leases that etcd may know of: 0 or 1. */
  public int leases() {
    return leases;
  }

  /** Gives the key up; done once its lease is revoked, or after two seconds. */
  public CompletableFuture<Void> close() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    strand.execute(() -> {
      closed = true;
      held = false;
      standing = null;
      cancelTimer();
      closing.add(done);
      timer =
          strand.schedule(
              CLOSE_BOUND,
              () -> {
                if (ending != null) {
                  ending.abandon();
                }
                gone();
              });
      if (leases == 0) {
        gone();
      } else if (lease != null) {
        release(lease, () -> {});
      }
    });
    return done;
  }

  private void look() {
    timer = null;
    if (closed) {
      return;
    }
    Answer.of(
        etcd.get(key, CALL),
        strand,
        reply -> {
          if (closed) {
            return;
          }
          if (reply.keyValue() == null) {
            grant();
          } else {
            taken(reply.keyValue());
          }
        },
        this::retry);
  }

  private void taken(KeyValue holder) {
    backoff.reset();
    if (holder.createRevision() != takenAt) {
      takenAt = holder.createRevision();
      listener.onTaken(holder);
    }
    if (!closed) {
      timer = strand.schedule(POLL, this::look);
    }
  }

  private void grant() {
    leases = 1;
    Answer.of(
        OwnLease.grant(etcd, strand, random, ttl, new LeaseListener()),
        strand,
        granted -> {
          lease = granted;
          if (closed) {
            release(granted, () -> {});
          } else {
            create(granted);
          }
        },
        failure -> {
          leases = 0;
          if (closed) {
            gone();
          } else {
            retry(failure);
          }
        });
  }

  private void create(OwnLease mine) {
    if (closed || mine != lease) {
      return;
    }
    dirty = false;
    ByteString sent = value;
    Answer.of(
        etcd.txn(
            new Txn(
                List.of(new Compare.CreateRevision(key, 0)),
                List.of(new Op.Put(key, sent, mine.id())),
                List.of(new Op.Get(key))),
            CALL),
        strand,
        reply -> {
          if (closed || mine != lease) {
            return;
          }
          KeyValue found = reply.find(key).orElse(null);
          if (reply.succeeded()) {
            hold(mine, reply.revision(), reply.revision());
          } else if (found != null && found.leaseId() == mine.id()) {
            // An earlier copy had succeeded, perhaps with an earlier value.
            dirty |= !found.value().equals(value);
            hold(mine, found.createRevision(), found.modRevision());
          } else {
            release(
                mine,
                () -> {
                  if (found != null) {
                    taken(found);
                  } else {
                    look();
                  }
                });
          }
        },
        failure -> {
          if (closed || mine != lease) {
            return;
          }
          if (mine.isAlive() && failure.isUnknown()) {
            // The same again: only the copy that comes first can succeed.
            Duration pause = backoff.next();
            listener.onRetry(failure, pause);
            timer = strand.schedule(pause, () -> create(mine));
          } else {
            release(mine, () -> retry(failure));
          }
        });
  }

  private void hold(OwnLease mine, long created, long modified) {
    backoff.reset();
    held = true;
    takenAt = 0;
    createRevision = created;
    modRevision = modified;
    mine.guard(key, created);
    standing = new Standing(mine.id(), mine.deadlineNanos());
    listener.onHeld(created, mine.id());
    write();
  }

  /** Brings the key to the newest value, one write at a time. */
  private void write() {
    OwnLease mine = lease;
    if (!held || !dirty || writing || closed || mine == null) {
      return;
    }
    writing = true;
    dirty = false;
    ByteString sent = value;
    Answer.of(
        etcd.txn(
            new Txn(
                // Not the create revision: a late copy of an earlier write would bring its value
                // back.
                List.of(new Compare.ModRevision(key, modRevision)),
                List.of(new Op.Put(key, sent, mine.id())),
                List.of(new Op.Get(key))),
            CALL),
        strand,
        reply -> {
          if (mine != lease) {
            return;
          }
          writing = false;
          if (reply.succeeded()) {
            modRevision = reply.revision();
          } else {
            KeyValue found = reply.find(key).orElse(null);
            if (found == null || found.createRevision() != createRevision) {
              lost(mine, "the key is gone or another's");
              return;
            }
            modRevision = found.modRevision();
            dirty |= !found.value().equals(value);
          }
          backoff.reset();
          write();
        },
        failure -> {
          if (mine == lease) {
            writing = false;
            dirty = true;
            timer = strand.schedule(backoff.next(), this::write);
          }
        });
  }

  private void lost(OwnLease mine, String reason) {
    boolean wasHeld = held;
    held = false;
    standing = null;
    writing = false;
    cancelTimer();
    release(mine, () -> timer = strand.schedule(backoff.next(), this::look));
    if (wasHeld) {
      listener.onLost(reason);
    }
  }

  /** Goes on once etcd has confirmed that the lease is gone. */
  private void release(OwnLease mine, Runnable then) {
    lease = null;
    ending = mine;
    mine.revoke(() -> {
      leases = 0;
      ending = null;
      if (closed) {
        gone();
      } else {
        then.run();
      }
    });
  }

  private void gone() {
    cancelTimer();
    closing.forEach(done -> done.complete(null));
    closing.clear();
  }

  private void retry(EtcdException failure) {
    if (closed || failure.kind() == Kind.CLOSED) {
      return;
    }
    Duration pause = backoff.next();
    listener.onRetry(failure, pause);
    timer = strand.schedule(pause, this::look);
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private final class LeaseListener implements OwnLease.Listener {
    @Override
    public void onRenewed(long deadlineNanos) {
      OwnLease mine = lease;
      if (held && mine != null) {
        standing = new Standing(mine.id(), deadlineNanos);
      }
    }

    @Override
    public void onLost(String reason) {
      OwnLease mine = lease;
      if (mine != null && !closed) {
        lost(mine, reason);
      }
    }
  }
}
