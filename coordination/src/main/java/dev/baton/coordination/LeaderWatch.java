package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps looking at one key: a watch tells at once, and a get every second repairs what a watch may
 * miss.
 *
 * <p>Belongs to its owner's strand. What it tells never goes back in revisions.
 */
final class LeaderWatch {
  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofSeconds(5);

  /** Called on the strand. */
  interface Listener {
    /** As of a revision the key was this, or absent. From a watch, the lease id is unknown: 0. */
    void onSeen(long revision, @Nullable KeyValue keyValue);
  }

  private final Etcd etcd;
  private final Strand strand;
  private final ByteString key;
  private final Backoff backoff;
  private final Listener listener;

  private long asOf;
  private Etcd.@Nullable Watch watch;
  private @Nullable Timer timer;
  private boolean closed;

  LeaderWatch(Etcd etcd, Strand strand, RandomGenerator random, ByteString key, Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.key = key;
    this.backoff = new Backoff(EVERY, LONGEST, random);
    this.listener = listener;
  }

  void start() {
    look();
  }

  /** Something that is known from elsewhere; older news are ignored from now on. */
  void seen(long revision, @Nullable KeyValue keyValue) {
    if (!closed && revision > asOf) {
      asOf = revision;
      listener.onSeen(revision, keyValue);
    }
  }

  void close() {
    closed = true;
    if (timer != null) {
      timer.cancel();
    }
    drop();
  }

  private void look() {
    if (closed) {
      return;
    }
    Answer.of(
        etcd.get(key, EVERY),
        strand,
        reply -> {
          backoff.reset();
          // The same revision again may still tell a lease id that a watch did not.
          if (!closed && reply.revision() >= asOf) {
            asOf = reply.revision();
            listener.onSeen(asOf, reply.keyValue());
          }
          if (watch == null && !closed) {
            follow(reply.revision() + 1);
          }
          lookAfter(EVERY);
        },
        failure -> lookAfter(backoff.next()));
  }

  private void lookAfter(Duration pause) {
    if (!closed) {
      timer = strand.schedule(pause, this::look);
    }
  }

  private void follow(long revision) {
    watch =
        etcd.watch(
            new Etcd.WatchRequest(key, Keys.after(key), revision, true),
            new Etcd.WatchListener() {
              @Override
              public void onOpen() {}

              @Override
              public void onEvents(List<WatchEvent> events, long upTo) {
                if (!events.isEmpty()) {
                  strand.execute(() -> events.forEach(LeaderWatch.this::told));
                }
              }

              @Override
              public void onFailure(EtcdException failure) {
                // The next look opens another.
                strand.execute(LeaderWatch.this::drop);
              }
            });
  }

  private void told(WatchEvent event) {
    seen(
        event.modRevision(),
        event.value() == null
            ? null
            : new KeyValue(
                event.key(), event.value(), event.createRevision(), event.modRevision(), 0));
  }

  private void drop() {
    if (watch != null) {
      watch.close();
      watch = null;
    }
  }
}
