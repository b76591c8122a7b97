package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.scheduler.engine.Event;
import dev.baton.workflow.Canonical;
import dev.baton.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** Reads definitions from {@code specs/}. */
final class SpecStore {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** Of the largest definitions this is 50 MiB, which is less than an answer may measure. */
  private static final int PAGE = 128;

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;

  SpecStore(Etcd etcd, Keys keys, Strand strand) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
  }

  static Workflow decode(ByteString bytes) {
    return Canonical.decompress(bytes.toByteArray()).workflow();
  }

  /** The definitions that these entries add and the replica lacks. */
  static List<Long> missing(Iterable<Entry> entries, Replica replica) {
    List<Long> missing = new ArrayList<>();
    for (Entry entry : entries) {
      for (Entry.Stamped stamped : entry.events()) {
        if (stamped.event() instanceof Event.SpecAdded added
            && !replica.definitions().contains(added.number())) {
          missing.add(added.number());
        }
      }
    }
    return missing;
  }

  /**
   * Reads definitions into the replica, in pages: numbers ascend, so those that some entries add
   * stand side by side in etcd, with few others between them.
   *
   * @param revision as of this revision; 0: now
   */
  CompletableFuture<Void> fetch(List<Long> numbers, Replica replica, long revision) {
    if (numbers.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    NavigableMap<ByteString, Long> wanted =
        new TreeMap<>(ByteString.unsignedLexicographicalComparator());
    numbers.forEach(number -> wanted.put(keys.spec(number), number));
    return read(wanted, Keys.after(wanted.lastKey()), replica, revision);
  }

  /** What is wanted before {@code end}; what has come is wanted no more. */
  private CompletableFuture<Void> read(
      NavigableMap<ByteString, Long> wanted, ByteString end, Replica replica, long revision) {
    return etcd.list(new Etcd.ListRequest(wanted.firstKey(), end, PAGE, revision, false), DEADLINE)
        .thenComposeAsync(
            reply -> {
              int before = wanted.size();
              for (Etcd.KeyValue keyValue : reply.keyValues()) {
                Long number = wanted.remove(keyValue.key());
                if (number != null) {
                  replica.definitions().put(number, decode(keyValue.value()));
                }
              }
              if (wanted.isEmpty()) {
                return CompletableFuture.completedFuture(null);
              }
              boolean someCame = wanted.size() < before;
              if (!reply.more() || !someCame) {
                throw new IllegalStateException(
                    "Expected definition "
                        + wanted.firstEntry().getValue()
                        + " in etcd, but "
                        + wanted.firstKey().toStringUtf8()
                        + " is absent");
              }
              return read(wanted, end, replica, revision);
            },
            strand);
  }
}
