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
import java.util.concurrent.CompletableFuture;

/** Reads definitions from {@code specs/}. */
final class SpecStore {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

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
   * Reads definitions into the replica, one after another.
   *
   * @param revision as of this revision; 0: now
   */
  CompletableFuture<Void> fetch(List<Long> numbers, Replica replica, long revision) {
    CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
    for (long number : numbers) {
      done = done.thenComposeAsync(nothing -> fetch(number, replica, revision), strand);
    }
    return done;
  }

  private CompletableFuture<Void> fetch(long number, Replica replica, long revision) {
    ByteString key = keys.spec(number);
    return etcd.list(new Etcd.ListRequest(key, Keys.after(key), 1, revision, false), DEADLINE)
        .thenAcceptAsync(
            reply -> {
              if (reply.keyValues().isEmpty()) {
                throw new IllegalStateException(
                    "Expected definition "
                        + number
                        + " in etcd, but "
                        + key.toStringUtf8()
                        + " is absent");
              }
              replica.definitions().put(number, decode(reply.keyValues().getFirst().value()));
            },
            strand);
  }
}
