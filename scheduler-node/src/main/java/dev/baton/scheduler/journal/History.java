package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.proto.journal.v1.HistoryEntry;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.scheduler.model.RunId;
import java.lang.ref.SoftReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reads the records of runs that have left the state.
 *
 * <p>Keeps the last long run while the heap has room, on the strand: whoever reads one output of a
 * long run often reads them all, and each would be read from all parts again.
 */
public final class History {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;
  private SoftReference<PastRun> lastLong = new SoftReference<>(null);

  public History(Etcd etcd, Keys keys, Strand strand) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
  }

  /** A run, whole; empty: retention has dropped it. */
  public CompletableFuture<Optional<PastRun>> find(long historySeq, RunId id) {
    ByteString wanted = EventCodec.encode(id);
    return stored(historySeq)
        .thenComposeAsync(
            runs -> {
              for (HistoryRun run : runs) {
                if (run.getRecord().getRunId().equals(wanted)) {
                  return run.getParts() == 0
                      ? CompletableFuture.completedFuture(Optional.of(new PastRun(run.getRecord())))
                      : longRun(run);
                }
              }
              return CompletableFuture.completedFuture(Optional.empty());
            },
            strand);
  }

  /** The run with a key, without its tasks if it is long. */
  public CompletableFuture<Optional<PastRun>> findKey(long historySeq, String tenant, String key) {
    return entry(historySeq)
        .thenApplyAsync(
            runs ->
                runs.stream()
                    .filter(run -> run.key().equals(key) && run.tenant().equals(tenant))
                    .findFirst(),
            strand);
  }

  /** All runs of an entry, long ones without their tasks; none: retention has dropped them. */
  public CompletableFuture<List<PastRun>> entry(long historySeq) {
    return stored(historySeq)
        .thenApplyAsync(
            runs -> runs.stream().map(run -> new PastRun(run.getRecord())).toList(), strand);
  }

  private CompletableFuture<List<HistoryRun>> stored(long historySeq) {
    return etcd.get(keys.history(historySeq), DEADLINE)
        .thenApplyAsync(
            reply ->
                reply.keyValue() == null
                    ? List.of()
                    : parse(reply.keyValue().value()).getRunsList(),
            strand);
  }

  private CompletableFuture<Optional<PastRun>> longRun(HistoryRun run) {
    long number = run.getRecord().getNumber();
    PastRun last = lastLong.get();
    if (last != null && last.number() == number) {
      return CompletableFuture.completedFuture(Optional.of(last));
    }
    return parts(number, run.getParts(), 0, new ArrayList<>());
  }

  private CompletableFuture<Optional<PastRun>> parts(
      long run, int parts, int next, List<ByteString> read) {
    if (next == parts) {
      PastRun past = new PastRun(joined(read));
      lastLong = new SoftReference<>(past);
      return CompletableFuture.completedFuture(Optional.of(past));
    }
    return etcd.get(keys.historyPart(run, next), DEADLINE)
        .thenComposeAsync(
            reply -> {
              if (reply.keyValue() == null) {
                return CompletableFuture.completedFuture(Optional.empty());
              }
              read.add(reply.keyValue().value());
              return parts(run, parts, next + 1, read);
            },
            strand);
  }

  private static RunRecord joined(List<ByteString> parts) {
    try {
      return RunRecord.parseFrom(ByteString.copyFrom(parts));
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(
          "Expected the parts of a run's record, but they are damaged", e);
    }
  }

  /** What a history key holds. */
  public static HistoryEntry parse(ByteString bytes) {
    try {
      return HistoryEntry.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("Expected a history entry, but the bytes are none", e);
    }
  }
}
