package dev.baton.coordination;

import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How much of etcd's quota is in use, so that submissions are refused before etcd refuses
 * everything.
 *
 * <p>etcd tells its size but not its quota: that must be configured as it is there. Work is done on
 * the strand; what is known may be read from any thread.
 */
public final class StoreSize {
  /** etcd's default quota. */
  public static final long DEFAULT_QUOTA_BYTES = 2L << 30;

  private static final Duration EVERY = Duration.ofSeconds(5);
  private static final Duration CALL = Duration.ofSeconds(2);
  private static final double FULL = 0.80;
  // So that it does not flicker at the edge.
  private static final double ROOM = 0.78;

  private final Etcd etcd;
  private final Strand strand;
  private final long quotaBytes;
  private volatile long inUseBytes;
  private volatile boolean full;
  private boolean closed;
  private @Nullable Timer timer;

  public StoreSize(Etcd etcd, Strand strand, long quotaBytes) {
    if (quotaBytes <= 0) {
      throw new IllegalArgumentException(
          "Expected etcd's quota in bytes, but got " + quotaBytes + ".");
    }
    this.etcd = etcd;
    this.strand = strand;
    this.quotaBytes = quotaBytes;
  }

  public void start() {
    strand.execute(this::look);
  }

  public void close() {
    strand.execute(() -> {
      closed = true;
      if (timer != null) {
        timer.cancel();
      }
    });
  }

  public long quotaBytes() {
    return quotaBytes;
  }

  /** As last heard; 0: not heard yet. */
  public long inUseBytes() {
    return inUseBytes;
  }

  /** 80 % of the quota are in use: no submissions. */
  public boolean isFull() {
    return full;
  }

  private void look() {
    if (closed) {
      return;
    }
    timer = strand.schedule(EVERY, this::look);
    Answer.of(
        etcd.status(CALL),
        strand,
        status -> {
          inUseBytes = status.sizeInUseBytes();
          full = inUseBytes >= quotaBytes * (full ? ROOM : FULL);
        },
        // The next look comes anyway; until then the last answer stands.
        failure -> {});
  }
}
