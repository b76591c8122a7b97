package dev.baton.coordination;

import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends one identical transaction until etcd answers it, at most two copies in any second, and
 * gives up when the lease deadline has passed.
 *
 * <p>A copy without an answer may be applied at any later time, so the transaction must be one that
 * can be applied once at most, or as often as you like.
 */
final class InsistentTxn {
  private static final Duration FIRST_TIMEOUT = Duration.ofMillis(200);
  private static final Duration LONGEST_TIMEOUT = Duration.ofMillis(1600);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final long WINDOW_NANOS = Duration.ofSeconds(1).toNanos();

  /** Called on the strand. One of the last three ends it. */
  interface Listener {
    /** etcd takes nothing now, for a reason that passes; called once until an answer comes. */
    void onStalled(Kind kind);

    void onReply(TxnReply reply);

    /** Never written, and the same again would not be either. */
    void onRefused(EtcdException refusal);

    /** The lease deadline has passed and nobody knows. */
    void onDeadline();
  }

  private final Etcd etcd;
  private final Strand strand;
  private final LongSupplier leaseDeadlineNanos;
  private final Txn txn;
  private final Listener listener;

  private Duration timeout = FIRST_TIMEOUT;
  private Duration pause = FIRST_PAUSE;
  private long lastSentNanos;
  private long earlierSentNanos;
  private int copies;
  private boolean stalled;
  private boolean over;
  private @Nullable Timer timer;

  InsistentTxn(
      Etcd etcd, Strand strand, LongSupplier leaseDeadlineNanos, Txn txn, Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.leaseDeadlineNanos = leaseDeadlineNanos;
    this.txn = txn;
    this.listener = listener;
  }

  void start() {
    send();
  }

  /** The listener is not called any more. */
  void cancel() {
    over = true;
    if (timer != null) {
      timer.cancel();
    }
  }

  private void send() {
    if (over) {
      return;
    }
    long now = strand.nanoTime();
    long remaining = leaseDeadlineNanos.getAsLong() - now;
    if (remaining <= 0) {
      over = true;
      listener.onDeadline();
      return;
    }
    earlierSentNanos = lastSentNanos;
    lastSentNanos = now;
    copies++;
    Duration deadline = Duration.ofNanos(Math.min(timeout.toNanos(), remaining));
    Answer.of(etcd.txn(txn, deadline), strand, this::answered, this::failed);
  }

  private void answered(TxnReply reply) {
    if (!over) {
      over = true;
      listener.onReply(reply);
    }
  }

  private void failed(EtcdException failure) {
    if (over) {
      return;
    }
    if (failure.isUnknown()) {
      timeout = longer(timeout, LONGEST_TIMEOUT);
      again(Duration.ZERO);
    } else if (failure.isStall()) {
      Duration now = pause;
      pause = longer(pause, LONGEST_PAUSE);
      if (!stalled) {
        stalled = true;
        listener.onStalled(failure.kind());
      }
      again(now);
    } else {
      over = true;
      listener.onRefused(failure);
    }
  }

  private void again(Duration atLeast) {
    long spacing = copies < 2 ? 0 : earlierSentNanos + WINDOW_NANOS - strand.nanoTime();
    timer =
        strand.schedule(
            Duration.ofNanos(Math.max(Math.max(0, spacing), atLeast.toNanos())), this::send);
  }

  private static Duration longer(Duration value, Duration longest) {
    Duration doubled = value.multipliedBy(2);
    return doubled.compareTo(longest) > 0 ? longest : doubled;
  }
}
