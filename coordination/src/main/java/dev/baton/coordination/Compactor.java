package dev.baton.coordination;

import dev.baton.coordination.Etcd.Status;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes etcd forget old revisions, since deletes free nothing until then: every half minute what is
 * older than a minute, or than five while somebody reads the state at an older revision.
 *
 * <p>The leader runs it. Belongs to its strand; a failure only waits for the next time.
 */
public final class Compactor {
  /** What it tells, for metrics. Called on the strand. */
  public interface Listener {
    void onCompacted(long revision);

    void onFailure(EtcdException failure);
  }

  private static final Duration EVERY = Duration.ofSeconds(30);
  private static final Duration KEEP = Duration.ofSeconds(60);
  private static final Duration KEEP_FOR_LOADING = Duration.ofMinutes(5);
  private static final Duration CALL = Duration.ofSeconds(5);

  private record Sample(long nanos, long revision) {}

  private final Etcd etcd;
  private final Strand strand;
  private final BooleanSupplier loading;
  private final Listener listener;
  private final Deque<Sample> samples = new ArrayDeque<>();
  private long compacted;
  private boolean closed;
  private @Nullable Timer timer;

  /**
   * A compactor of one leadership.
   *
   * @param loading whether somebody loads the state now; asked on the strand
   */
  public Compactor(Etcd etcd, Strand strand, BooleanSupplier loading, Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.loading = loading;
    this.listener = listener;
  }

  public void start() {
    sample();
  }

  public void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
  }

  private void sample() {
    if (closed) {
      return;
    }
    timer = strand.schedule(EVERY, this::sample);
    Answer.of(etcd.status(CALL), strand, this::sampled, this::failed);
  }

  private void sampled(Status status) {
    if (closed) {
      return;
    }
    long now = strand.nanoTime();
    samples.addLast(new Sample(now, status.revision()));
    long keep = (loading.getAsBoolean() ? KEEP_FOR_LOADING : KEEP).toNanos();
    long revision = 0;
    for (Sample sample : samples) {
      if (now - sample.nanos() >= keep) {
        revision = Math.max(revision, sample.revision());
      }
    }
    while (now - samples.getFirst().nanos() >= KEEP_FOR_LOADING.toNanos()) {
      samples.removeFirst();
    }
    if (revision > compacted) {
      compact(revision);
    }
  }

  private void compact(long revision) {
    Answer.of(
        etcd.compact(revision, CALL),
        strand,
        done -> {
          compacted = Math.max(compacted, revision);
          listener.onCompacted(revision);
        },
        this::failed);
  }

  private void failed(EtcdException failure) {
    if (!closed && failure.kind() != Kind.CLOSED) {
      listener.onFailure(failure);
    }
  }
}
