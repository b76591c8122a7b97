package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Answer;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.journal.Replica;
import dev.baton.scheduler.journal.SnapshotWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the journal short. When it has grown a standby is asked for a snapshot; only if there is
 * none the leader takes one itself, at the close of an entry, and offers it once that is durable.
 * An offer that is newer than the installed snapshot is read back against its checksum and
 * installed by the next entry; what it covers is then deleted.
 */
final class Snapshots {
  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);
  private static final Duration DEADLINE = Duration.ofSeconds(5);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);
  private static final long KEYS_PER_DELETE = 1_000;

  private final Loop loop;
  private final Replica replica;
  private final long term;
  private final Leading leading;
  private final Supplier<List<String>> standbys;
  private final SnapshotWriter writer;
  private boolean busy;
  private boolean takeAtClose;
  private @Nullable Asked asked;
  private boolean askedInVain;
  private long notBeforeNanos;
  private long lastBytes;
  private boolean closed;

  /**
   * A standby that writes a snapshot.
   *
   * @param address its address
   */
  private record Asked(String address, CompletableFuture<SnapshotManifest> answer) {}

  /**
   * @param standbys addresses of the nodes that follow
   */
  Snapshots(
      Loop loop, Replica replica, long term, Leading leading, Supplier<List<String>> standbys) {
    this.loop = loop;
    this.replica = replica;
    this.term = term;
    this.leading = leading;
    this.standbys = standbys;
    this.writer = new SnapshotWriter(loop.reads(), loop.keys(), loop.strand());
    this.notBeforeNanos = loop.strand().nanoTime();
  }

  void close() {
    closed = true;
  }

  void tick() {
    if (busy) {
      waitForNobodyThatLeft();
      return;
    }
    if (loop.strand().nanoTime() < notBeforeNanos || !isDue()) {
      return;
    }
    busy = true;
    List<String> others = askedInVain ? List.of() : standbys.get();
    if (others.isEmpty()) {
      takeAtClose = true;
    } else {
      ask(others.getFirst());
    }
  }

  private void ask(String address) {
    askedInVain = true;
    Asked started = new Asked(address, loop.peers().askSnapshot(address));
    asked = started;
    Answer.of(
        started.answer(),
        loop.strand(),
        manifest -> {
          asked = null;
          offer(started.answer());
        },
        failure -> {
          asked = null;
          failed("The standby at " + address + " took no snapshot", failure.getCause());
        });
  }

  /** Its connection may stay open for long when a node stands still; its registration does not. */
  private void waitForNobodyThatLeft() {
    Asked waiting = asked;
    if (waiting != null && !standbys.get().contains(waiting.address())) {
      waiting.answer().completeExceptionally(new IllegalStateException("it has left"));
    }
  }

  private boolean isDue() {
    return replica.seq() - replica.state().installedSnapshot() >= loop.settings().snapshotEntries()
        || replica.journalBytes() >= Math.max(loop.settings().snapshotBytes(), lastBytes);
  }

  /** The entry is about to leave, and the state is what it is after it. */
  void onClosed(Consumer<Runnable> whenDurable) {
    if (!takeAtClose) {
      return;
    }
    takeAtClose = false;
    SnapshotWriter.Taken taken = SnapshotWriter.take(replica, newTry());
    whenDurable.accept(() -> offer(writer.write(taken)));
  }

  private String newTry() {
    return Long.toHexString(loop.random().nextLong());
  }

  private void offer(CompletableFuture<SnapshotManifest> written) {
    Answer.of(
        written.thenComposeAsync(writer::check, loop.strand()),
        loop.strand(),
        manifest -> {
          if (closed) {
            return;
          }
          if (install(manifest)) {
            askedInVain = false;
          } else {
            busy = false;
            notBeforeNanos = loop.strand().nanoTime() + AFTER_FAILURE.toNanos();
          }
        },
        failure -> failed("A snapshot was not written, or cannot be read back", failure));
  }

  private void failed(String what, @Nullable Throwable why) {
    busy = false;
    if (closed) {
      return;
    }
    LOG.warn("{}; another is taken: {}", what, why == null ? "" : why.getMessage());
    notBeforeNanos = loop.strand().nanoTime() + AFTER_FAILURE.toNanos();
  }

  /** False: it is not newer than the installed one, or there was no room for it. */
  private boolean install(SnapshotManifest manifest) {
    if (manifest.getSeq() <= replica.state().installedSnapshot()
        || !leading.install(
            new Command.InstallSnapshot(manifest.getSeq()), manifest.toByteString())) {
      LOG.warn("A snapshot at entry {} was of no use, and another is taken", manifest.getSeq());
      return false;
    }
    lastBytes = manifest.getBytes();
    loop.listener().onSnapshot(manifest.getBytes());
    LOG.info(
        "A snapshot at entry {} is installed: {} bytes in {} chunks",
        manifest.getSeq(),
        manifest.getBytes(),
        manifest.getChunks());
    long installed = manifest.getSeq();
    leading
        .pipeline()
        .whenDurable(() -> {
          // Not before: two in one entry would write the key 'snapshot' twice, which etcd refuses.
          busy = false;
          truncate(installed);
        });
    return true;
  }

  /**
   * Deletes what an installed snapshot covers; also what an earlier leader left of it.
   *
   * @param installed its entry; that it is installed is durable, while the state may already know a
   *     newer one that is not
   */
  void truncate(long installed) {
    if (installed == 0 || closed) {
      return;
    }
    Answer.of(
        loop.reads()
            .list(
                new ListRequest(loop.keys().journal(), Keys.end(loop.keys().journal()), 1, 0, true),
                DEADLINE),
        loop.strand(),
        first -> {
          if (!first.keyValues().isEmpty()) {
            deleteEntries(Keys.numberOf(first.keyValues().getFirst().key()), installed);
          }
        },
        failure -> loop.strand().schedule(AFTER_FAILURE, () -> truncate(installed)));
  }

  private void deleteEntries(long from, long installed) {
    if (closed) {
      return;
    }
    if (from > installed) {
      delete(loop.keys().snapshots(), loop.keys().snapshots(installed), () -> {});
      return;
    }
    long to = Math.min(installed + 1, from + KEYS_PER_DELETE);
    delete(loop.keys().journal(from), loop.keys().journal(to), () -> deleteEntries(to, installed));
  }

  private void delete(ByteString from, ByteString to, Runnable then) {
    Txn txn =
        new Txn(
            List.of(new Compare.ModRevision(loop.keys().leader(), term)),
            List.of(new Op.DeleteRange(from, to)),
            List.of(new Op.Get(loop.keys().leader())));
    Answer.of(
        loop.reads().txn(txn, DEADLINE),
        loop.strand(),
        reply -> {
          if (!closed && reply.succeeded()) {
            then.run();
          }
        },
        failure -> {
          if (!closed) {
            loop.strand().schedule(Duration.ofSeconds(1), () -> delete(from, to, then));
          }
        });
  }
}
