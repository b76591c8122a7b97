package dev.baton.cli.bench;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.client.Ulid;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.Etcd.WatchListener;
import dev.baton.coordination.Etcd.WatchRequest;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Keys;
import dev.baton.proto.journal.v1.AttemptEnded;
import dev.baton.proto.journal.v1.Event;
import dev.baton.proto.journal.v1.JournalEntry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the journal in etcd and counts there: what it has seen is durable and accepted, whatever
 * a scheduler says. Its callbacks run on a thread of the etcd client.
 */
final class JournalTap implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(5);
  private static final long PAUSE_MILLIS = 200;
  private static final int PAGE = 500;

  private final Etcd etcd;
  private final Keys keys;
  private final int tasksPerRun;
  private final Consumer<String> onRunEnded;
  private final ScheduledExecutorService executor;

  // Guarded by this.
  private final Map<Long, OpenRun> open = new HashMap<>();
  private final Map<Long, Long> firstSeqOfTerm = new HashMap<>();
  private Etcd.@Nullable Watch watch;
  private Counts counts = new Counts(0, 0, 0, 0, 0);
  private long lastSeq;
  private boolean closed;

  /** A run and how many of its tasks have not ended. */
  private static final class OpenRun {
    private final String id;
    private int left;

    OpenRun(String id, int left) {
      this.id = id;
      this.left = left;
    }
  }

  /**
   * What was counted.
   *
   * @param bytes values of all entries, without the outputs in them
   */
  record Counts(long nanos, long entries, long bytes, long tasksEnded, long tasksSucceeded) {}

  /**
   * @param tasksPerRun a run with so many tasks ended has ended; others never do here
   * @param onRunEnded told the id of each such run
   */
  JournalTap(
      Etcd etcd,
      Keys keys,
      int tasksPerRun,
      Consumer<String> onRunEnded,
      ScheduledExecutorService executor) {
    this.etcd = etcd;
    this.keys = keys;
    this.tasksPerRun = tasksPerRun;
    this.onRunEnded = onRunEnded;
    this.executor = executor;
  }

  /** Begins with the entry after the newest one. */
  void start() {
    catchUp(Keys.after(keys.journal()));
  }

  synchronized Counts counts() {
    return new Counts(
        System.nanoTime(),
        counts.entries(),
        counts.bytes(),
        counts.tasksEnded(),
        counts.tasksSucceeded());
  }

  /** The entry with which a term began; 0: not seen. */
  synchronized long firstSeq(long term) {
    return firstSeqOfTerm.getOrDefault(term, 0L);
  }

  /** Terms that have begun. */
  synchronized int terms() {
    return firstSeqOfTerm.size();
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (watch != null) {
      watch.close();
    }
  }

  /** Reads what a watch that ended may have missed, page by page, and watches again. */
  private void catchUp(ByteString from) {
    var unused =
        etcd.list(new ListRequest(from, Keys.end(keys.journal()), PAGE, 0, false), DEADLINE)
            .whenCompleteAsync(
                (page, failure) -> {
                  if (page == null) {
                    later(from);
                    return;
                  }
                  page.keyValues().forEach(kv -> take(kv.value()));
                  if (page.more()) {
                    catchUp(Keys.after(page.keyValues().getLast().key()));
                  } else {
                    follow(page.revision() + 1);
                  }
                },
                executor);
  }

  private void later(ByteString from) {
    var unused = executor.schedule(() -> catchUp(from), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private synchronized void follow(long revision) {
    if (closed) {
      return;
    }
    watch =
        etcd.watch(
            new WatchRequest(keys.journal(), Keys.end(keys.journal()), revision, false),
            new WatchListener() {
              @Override
              public void onOpen() {}

              @Override
              public void onEvents(List<WatchEvent> events, long upTo) {
                for (WatchEvent event : events) {
                  if (event.value() != null) {
                    take(event.value());
                  }
                }
              }

              @Override
              public void onFailure(EtcdException failure) {
                later(keys.journal(lastSeq() + 1));
              }
            });
  }

  private synchronized long lastSeq() {
    return lastSeq;
  }

  private synchronized void take(ByteString value) {
    JournalEntry entry;
    try {
      entry = JournalEntry.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("Expected a journal entry, but it cannot be read.", e);
    }
    if (entry.getSeq() <= lastSeq) {
      return;
    }
    lastSeq = entry.getSeq();
    firstSeqOfTerm.putIfAbsent(entry.getTerm(), entry.getSeq());
    long bytes = value.size();
    long ended = 0;
    long succeeded = 0;
    for (Event event : entry.getEventsList()) {
      if (event.hasRunCreated()) {
        ByteString id = event.getRunCreated().getRunId();
        open.put(event.getRunCreated().getNumber(), new OpenRun(text(id), tasksPerRun));
      } else if (event.hasAttemptEnded()) {
        AttemptEnded attempt = event.getAttemptEnded();
        bytes -= attempt.getOutputBytes().size();
        if (!attempt.hasRetryAfterMs()) {
          ended++;
          succeeded += attempt.getOutcome() == AttemptEnded.Outcome.SUCCESS ? 1 : 0;
          endTask(attempt.getRun());
        }
      } else if (event.hasRunRetired()) {
        OpenRun run = open.remove(event.getRunRetired().getRun());
        if (run != null) {
          onRunEnded.accept(run.id);
        }
      }
    }
    counts =
        new Counts(
            0,
            counts.entries() + 1,
            counts.bytes() + bytes,
            counts.tasksEnded() + ended,
            counts.tasksSucceeded() + succeeded);
  }

  private void endTask(long runNumber) {
    OpenRun run = open.get(runNumber);
    if (run != null && --run.left == 0) {
      open.remove(runNumber);
      onRunEnded.accept(run.id);
    }
  }

  private static String text(ByteString id) {
    var bytes = id.asReadOnlyByteBuffer();
    return Ulid.text(bytes.getLong(), bytes.getLong());
  }
}
