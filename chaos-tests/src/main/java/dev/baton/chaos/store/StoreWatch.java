package dev.baton.chaos.store;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.EntryWritten;
import dev.baton.chaos.history.Observation.HeadWritten;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.WatchBroken;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.Etcd.WatchListener;
import dev.baton.coordination.Etcd.WatchRequest;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Keys;
import dev.baton.proto.journal.v1.Head;
import dev.baton.proto.journal.v1.JournalEntry;
import dev.baton.proto.v1.LeaderRecord;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows all keys of a cluster from the first revision on, over every failure of the watch, and
 * notes the changes of those that only a leader may write. One watch on all of them, so that their
 * order is etcd's. Its callbacks run on a thread of the etcd client.
 */
public final class StoreWatch implements AutoCloseable {
  private static final long PAUSE_MILLIS = 200;

  private final Etcd etcd;
  private final Keys keys;
  private final Consumer<Observation> journal;
  private final ScheduledExecutorService executor;

  // Guarded by this.
  private Etcd.@Nullable Watch watch;
  private Leader leader = new Leader("", 0);
  private long lastRevision;
  private boolean closed;

  /**
   * Who leads.
   *
   * @param node empty: nobody
   */
  public record Leader(String node, long term) {}

  public StoreWatch(
      Etcd etcd, Keys keys, Consumer<Observation> journal, ScheduledExecutorService executor) {
    this.etcd = etcd;
    this.keys = keys;
    this.journal = journal;
    this.executor = executor;
  }

  /** Begins with the first revision that etcd still has. */
  public void start() {
    follow(1);
  }

  /** As far as the watch has told. */
  public synchronized Leader leader() {
    return leader;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (watch != null) {
      watch.close();
    }
  }

  private synchronized void follow(long revision) {
    if (closed) {
      return;
    }
    ByteString prefix = ByteString.copyFromUtf8(keys.prefix());
    watch =
        etcd.watch(
            new WatchRequest(prefix, Keys.end(prefix), revision, true),
            new WatchListener() {
              @Override
              public void onOpen() {}

              @Override
              public void onEvents(List<WatchEvent> events, long upTo) {
                events.forEach(StoreWatch.this::take);
              }

              @Override
              public void onFailure(EtcdException failure) {
                broken(failure);
              }
            });
  }

  private synchronized void broken(EtcdException failure) {
    boolean missed = failure.kind() == EtcdException.Kind.COMPACTED;
    journal.accept(
        new WatchBroken(System.nanoTime(), missed, String.valueOf(failure.getMessage())));
    long next = missed ? 0 : lastRevision + 1;
    if (!closed) {
      var unused = executor.schedule(() -> follow(next), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void take(WatchEvent event) {
    lastRevision = Math.max(lastRevision, event.modRevision());
    long now = System.nanoTime();
    ByteString value = event.value();
    try {
      if (event.key().equals(keys.leader())) {
        String node = value == null ? "" : LeaderRecord.parseFrom(value).getNodeId();
        leader = new Leader(node, node.isEmpty() ? leader.term() : event.modRevision());
        journal.accept(new LeaderChanged(now, event.modRevision(), node));
      } else if (value == null) {
        // What is deleted was written before.
        return;
      } else if (event.key().equals(keys.head())) {
        Head head = Head.parseFrom(value);
        journal.accept(new HeadWritten(now, event.modRevision(), head.getSeq(), head.getTerm()));
      } else if (event.key().startsWith(keys.journal())) {
        JournalEntry entry = JournalEntry.parseFrom(value);
        journal.accept(new EntryWritten(now, event.modRevision(), entry.getSeq(), entry.getTerm()));
      }
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(
          "Expected a record at " + event.key().toStringUtf8() + ", but it cannot be read.", e);
    }
  }
}
