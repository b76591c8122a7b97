package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One lease of ours, from its grant to its confirmed end, and the key that stands under it.
 *
 * <p>A renewal counts only if the keep-alive <em>and</em> a get of the key agree; then the deadline
 * is the time <em>before</em> the calls, plus the TTL, less a margin. So it is always earlier than
 * etcd's own expiry, whatever the wall clocks do.
 *
 * <p>Belongs to its owner's strand.
 */
final class OwnLease {
  /** Called on the strand. */
  interface Listener {
    /** The deadline has moved. */
    void onRenewed(long deadlineNanos);

    /** Once: it can't be relied on any more; the owner revokes it. */
    void onLost(String reason);
  }

  private static final Duration LONGEST_CALL = Duration.ofSeconds(2);

  private final Etcd etcd;
  private final Strand strand;
  private final Backoff renewals;
  private final Backoff revocations;
  private final Etcd.Lease lease;
  private final Listener listener;

  private BooleanSupplier permit = () -> true;
  private @Nullable ByteString key;
  private long createRevision;
  private long deadlineNanos;
  private boolean over;
  private boolean abandoned;
  private @Nullable Timer next;
  private @Nullable Timer expiry;

  private OwnLease(
      Etcd etcd,
      Strand strand,
      RandomGenerator random,
      Etcd.Lease lease,
      long sentNanos,
      Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.lease = lease;
    // What is left of the TTL must hold several tries; once it is lost there is no hurry.
    this.renewals = new Backoff(Duration.ofMillis(100), lease.ttl().dividedBy(8), random);
    this.revocations = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5), random);
    this.listener = listener;
    this.deadlineNanos = deadline(sentNanos);
  }

  /** Asks for a lease; it renews itself from the start. */
  static CompletableFuture<OwnLease> grant(
      Etcd etcd, Strand strand, RandomGenerator random, Duration ttl, Listener listener) {
    long sent = strand.nanoTime();
    return etcd.grant(ttl, call(ttl))
        .thenApplyAsync(
            granted -> {
              OwnLease own = new OwnLease(etcd, strand, random, granted, sent, listener);
              own.rearm();
              own.beatAfter(own.period());
              return own;
            },
            strand);
  }

  long id() {
    return lease.id();
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Renewed in time, and not lost. */
  boolean isAlive() {
    return !over && strand.nanoTime() - deadlineNanos < 0;
  }

  /**
   * From now on a renewal counts only if this key, made at this revision, stands under the lease.
   */
  void guard(ByteString guarded, long createdAt) {
    key = guarded;
    createRevision = createdAt;
  }

  /** From now on it is renewed only while {@code condition} holds. */
  void renewOnlyWhile(BooleanSupplier condition) {
    permit = condition;
  }

  /** Ends it, again and again until etcd has confirmed that it is gone; then runs {@code done}. */
  void revoke(Runnable done) {
    stop();
    Answer.of(
        etcd.revoke(lease.id(), LONGEST_CALL),
        strand,
        confirmed -> done.run(),
        failure -> {
          if (failure.kind() != Kind.CLOSED && !abandoned) {
            next = strand.schedule(revocations.next(), () -> revoke(done));
          }
        });
  }

  /** Stops caring for it: it expires by itself. */
  void abandon() {
    abandoned = true;
    stop();
  }

  private void beat() {
    if (over) {
      return;
    }
    if (!permit.getAsBoolean()) {
      lose("its holder has stopped working");
      return;
    }
    long sent = strand.nanoTime();
    ByteString guarded = key;
    CompletableFuture<Optional<Duration>> renewed = etcd.renew(lease.id(), call(lease.ttl()));
    if (guarded == null) {
      Answer.of(renewed, strand, ttl -> judge(sent, ttl.isPresent(), true), this::failed);
    } else {
      Answer.of(
          renewed.thenCombineAsync(
              etcd.get(guarded, call(lease.ttl())),
              (ttl, read) -> new boolean[] {ttl.isPresent(), stands(read.keyValue())},
              strand),
          strand,
          both -> judge(sent, both[0], both[1]),
          this::failed);
    }
  }

  private boolean stands(Etcd.@Nullable KeyValue found) {
    return found != null
        && found.createRevision() == createRevision
        && found.leaseId() == lease.id();
  }

  private void judge(long sentNanos, boolean alive, boolean stands) {
    if (over) {
      return;
    }
    if (!alive) {
      lose("the lease has expired");
    } else if (!stands) {
      lose("the key is gone or another's");
    } else {
      renewals.reset();
      deadlineNanos = deadline(sentNanos);
      rearm();
      listener.onRenewed(deadlineNanos);
      beatAfter(period());
    }
  }

  private void failed(EtcdException failure) {
    if (over) {
      return;
    }
    if (failure.kind() == Kind.LEASE_NOT_FOUND) {
      lose("the lease has expired");
    } else {
      beatAfter(renewals.next());
    }
  }

  private void beatAfter(Duration pause) {
    next = strand.schedule(pause, this::beat);
  }

  private void rearm() {
    if (expiry != null) {
      expiry.cancel();
    }
    expiry =
        strand.schedule(
            Duration.ofNanos(Math.max(0, deadlineNanos - strand.nanoTime())),
            () -> lose("etcd has not confirmed it in time"));
  }

  private void lose(String reason) {
    if (!over) {
      stop();
      listener.onLost(reason);
    }
  }

  private void stop() {
    over = true;
    if (next != null) {
      next.cancel();
      next = null;
    }
    if (expiry != null) {
      expiry.cancel();
      expiry = null;
    }
  }

  private Duration period() {
    return lease.ttl().dividedBy(3);
  }

  private long deadline(long sentNanos) {
    return sentNanos + lease.ttl().minus(margin(lease.ttl())).toNanos();
  }

  /** What clocks of different speed and the way to etcd may cost. */
  static Duration margin(Duration ttl) {
    return ttl.dividedBy(10);
  }

  /** Two calls to different members fit into what is left after a renewal is due. */
  private static Duration call(Duration ttl) {
    Duration share = ttl.dividedBy(6);
    return share.compareTo(LONGEST_CALL) > 0 ? LONGEST_CALL : share;
  }
}
