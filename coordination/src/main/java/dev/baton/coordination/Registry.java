package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.Strand.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A live view of a folder of keys, for any number of listeners.
 *
 * <p>It lists, then watches from the next revision; after any failure, and every few minutes in any
 * case, it lists again and tells the difference. A delete is known by its key alone. Its state is
 * soft: while etcd is away it shows what was last known.
 *
 * <p>Belongs to its strand, with all its methods.
 */
public final class Registry {
  private static final Duration PAGE_DEADLINE = Duration.ofSeconds(3);
  private static final Duration LIST_EVERY = Duration.ofMinutes(3);

  /** Called on the strand. */
  public interface Listener {
    /** A key is new or was written again. Its lease id is not told: 0. */
    void onPut(KeyValue keyValue);

    void onDelete(ByteString key);

    /** A list is told completely; the view is as new as the list. */
    default void onListed() {}
  }

  private final Etcd etcd;
  private final Strand strand;
  private final ByteString prefix;
  private final RandomGenerator random;
  private final Backoff backoff;
  private final List<Listener> listeners = new ArrayList<>();
  private final Map<ByteString, KeyValue> known =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());

  private boolean listed;
  private boolean closed;
  private int round;
  private Etcd.@Nullable Watch watch;
  private @Nullable Timer timer;

  public Registry(Etcd etcd, Strand strand, ByteString prefix, RandomGenerator random) {
    this.etcd = etcd;
    this.strand = strand;
    this.prefix = prefix;
    this.random = random;
    this.backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5), random);
  }

  public void start() {
    list();
  }

  /** Adds a listener, which is told at once what is known. */
  public void add(Listener listener) {
    listeners.add(listener);
    known.values().forEach(listener::onPut);
    if (listed) {
      listener.onListed();
    }
  }

  public void remove(Listener listener) {
    listeners.remove(listener);
  }

  /** What is known now, in the order of keys. */
  public List<KeyValue> known() {
    return List.copyOf(known.values());
  }

  /** Whether it has been listed at least once. */
  public boolean isListed() {
    return listed;
  }

  public void close() {
    closed = true;
    round++;
    endWatch();
    if (timer != null) {
      timer.cancel();
    }
  }

  /**
   * Lists now, linearizably, and again until it succeeds: the next {@link Listener#onListed} comes
   * after all that stood here when this was called.
   */
  public void refresh() {
    list();
  }

  private void list() {
    if (closed) {
      return;
    }
    // What the old watch told is in the list, and nothing of it may come after the list.
    int mine = ++round;
    endWatch();
    Answer.of(
        Listing.read(etcd, strand, prefix, PAGE_DEADLINE),
        strand,
        listing -> {
          if (mine == round) {
            backoff.reset();
            tell(listing);
          }
          if (mine == round) {
            follow(listing.revision() + 1, mine);
            // Spread, so that the nodes do not list together.
            long seconds = LIST_EVERY.toSeconds();
            listAfter(Duration.ofSeconds(seconds + random.nextLong(seconds / 2)));
          }
        },
        failure -> {
          if (mine == round) {
            listAfter(backoff.next());
          }
        });
  }

  private void listAfter(Duration pause) {
    if (timer != null) {
      timer.cancel();
    }
    timer = strand.schedule(pause, this::list);
  }

  private void tell(Listing listing) {
    Set<ByteString> gone = new LinkedHashSet<>(known.keySet());
    for (KeyValue found : listing.keyValues()) {
      gone.remove(found.key());
      KeyValue before = known.get(found.key());
      if (before == null || before.modRevision() != found.modRevision()) {
        put(found.key(), found.value(), found.createRevision(), found.modRevision());
      }
    }
    gone.forEach(this::delete);
    listed = true;
    List.copyOf(listeners).forEach(Listener::onListed);
  }

  private void follow(long revision, int mine) {
    watch =
        etcd.watch(
            new Etcd.WatchRequest(prefix, Keys.end(prefix), revision, true),
            new Etcd.WatchListener() {
              @Override
              public void onOpen() {}

              @Override
              public void onEvents(List<WatchEvent> events, long upTo) {
                if (!events.isEmpty()) {
                  strand.execute(() -> told(events, mine));
                }
              }

              @Override
              public void onFailure(EtcdException failure) {
                strand.execute(() -> {
                  if (mine == round) {
                    endWatch();
                    listAfter(backoff.next());
                  }
                });
              }
            });
  }

  private void told(List<WatchEvent> events, int mine) {
    for (WatchEvent event : events) {
      if (mine != round) {
        return;
      }
      if (event.value() != null) {
        put(event.key(), event.value(), event.createRevision(), event.modRevision());
      } else {
        delete(event.key());
      }
    }
  }

  private void put(ByteString key, ByteString value, long created, long modified) {
    KeyValue keyValue = new KeyValue(key, value, created, modified, 0);
    known.put(key, keyValue);
    List.copyOf(listeners).forEach(listener -> listener.onPut(keyValue));
  }

  private void delete(ByteString key) {
    if (known.remove(key) != null) {
      List.copyOf(listeners).forEach(listener -> listener.onDelete(key));
    }
  }

  private void endWatch() {
    if (watch != null) {
      watch.close();
      watch = null;
    }
  }
}
