package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import dev.baton.proto.journal.v1.RetainedRuns;
import dev.baton.proto.journal.v1.SnapshotItem;
import dev.baton.proto.journal.v1.SnapshotMeta;
import dev.baton.proto.journal.v1.SpecRecord;
import dev.baton.proto.journal.v1.TurnRecord;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.ReadyQueues;
import dev.baton.scheduler.engine.Retained;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.engine.Spec;
import dev.baton.scheduler.model.SpecHash;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** The whole state at one entry as bytes. The same state gives the same bytes, on every node. */
final class SnapshotCodec {
  private static final int BLOCK = 4096;

  private SnapshotCodec() {}

  /** Which entry a state stands at. */
  record Position(long term, long seq, long time) {}

  static ByteString encode(ClusterState state, Position at) {
    ByteString.Output bytes = ByteString.newOutput(1 << 20);
    try (OutputStream out = new FastGzip(bytes)) {
      write(state, at, out);
    } catch (IOException e) {
      throw new IllegalStateException("A write to memory failed", e);
    }
    return bytes.toByteString();
  }

  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(OutputStream out) throws IOException {
      super(out, 1 << 16);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }

  private static void write(ClusterState state, Position at, OutputStream out) throws IOException {
    SnapshotMeta.Builder meta =
        SnapshotMeta.newBuilder()
            .setSeq(at.seq())
            .setTerm(at.term())
            .setTime(at.time())
            .setLeaderNodeId(state.leaderNodeId())
            .setNextWorkerRef(state.workers().next())
            .setInstalledSeq(state.installedSnapshot())
            .setHistoryDroppedSeq(state.historyDropped());
    new TreeMap<>(state.ready().turns())
        .forEach((type, turn) ->
            meta.putTurns(
                type,
                TurnRecord.newBuilder()
                    .setSinceTurn(turn.sinceTurn())
                    .setLastPriority(turn.lastPriority())
                    .build()));
    meta.putAllDroppedSpecs(state.droppedSpecs());
    put(out, SnapshotItem.newBuilder().setMeta(meta));
    for (Spec spec : state.specs()) {
      put(
          out,
          SnapshotItem.newBuilder()
              .setSpec(
                  SpecRecord.newBuilder()
                      .setNumber(spec.number())
                      .setHash(ByteString.copyFrom(spec.hash().bytes()))
                      .setLastUsed(spec.lastUsed())));
    }
    for (var worker : state.workers().all().entrySet()) {
      var named = new Event.WorkerNamed(worker.getKey(), worker.getValue());
      put(out, SnapshotItem.newBuilder().setWorker(EventCodec.encode(named)));
    }
    for (Event.WorkerCordoned cordon : state.cordons().all()) {
      put(out, SnapshotItem.newBuilder().setCordon(EventCodec.encode(cordon)));
    }
    for (Run run : state.runs()) {
      put(out, SnapshotItem.newBuilder().setRun(RunCodec.encode(run.image())));
    }
    writeRetained(state.retained(), out);
  }

  private static void writeRetained(Retained retained, OutputStream out) throws IOException {
    RetainedRuns.Builder block = RetainedRuns.newBuilder();
    for (Retained.Row row : retained.rows()) {
      block
          .addRun(row.run())
          .addIdHash(row.idHash())
          .addKeyHash(row.keyHash())
          .addBodyHash(row.bodyHash())
          .addHistorySeq(row.historySeq())
          .addRetiredAt(row.retiredAt());
      if (block.getIdHashCount() == BLOCK) {
        put(out, SnapshotItem.newBuilder().setRetained(block));
        block = RetainedRuns.newBuilder();
      }
    }
    if (block.getIdHashCount() > 0) {
      put(out, SnapshotItem.newBuilder().setRetained(block));
    }
  }

  private static void put(OutputStream out, SnapshotItem.Builder item) throws IOException {
    SnapshotItem built = item.build();
    CodedOutputStream coded = CodedOutputStream.newInstance(out);
    coded.useDeterministicSerialization();
    coded.writeUInt32NoTag(built.getSerializedSize());
    built.writeTo(coded);
    coded.flush();
  }

  /**
   * Fills an empty state, whose definitions hold what the snapshot names, and says where it stands.
   */
  static Position decode(ByteString bytes, ClusterState state) {
    try (InputStream in = new GZIPInputStream(bytes.newInput(), 1 << 16)) {
      SnapshotItem first = next(in);
      if (first == null || !first.hasMeta()) {
        throw new IllegalStateException("Expected a snapshot to begin with its meta item");
      }
      SnapshotMeta meta = first.getMeta();
      state.restoreMeta(
          meta.getTerm(),
          meta.getLeaderNodeId(),
          meta.getNextWorkerRef(),
          meta.getInstalledSeq(),
          meta.getHistoryDroppedSeq());
      meta.getTurnsMap()
          .forEach((type, turn) ->
              state.restoreTurn(
                  type, new ReadyQueues.Turn(turn.getSinceTurn(), turn.getLastPriority())));
      meta.getDroppedSpecsMap().forEach(state::restoreDroppedSpec);
      for (SnapshotItem item = next(in); item != null; item = next(in)) {
        restore(item, state);
      }
      return new Position(meta.getTerm(), meta.getSeq(), meta.getTime());
    } catch (IOException e) {
      throw new IllegalStateException("Expected a snapshot, but its bytes are damaged", e);
    }
  }

  /** The numbers of the definitions that a snapshot names. */
  static List<Long> specs(ByteString bytes) {
    List<Long> numbers = new ArrayList<>();
    try (InputStream in = new GZIPInputStream(bytes.newInput(), 1 << 16)) {
      for (SnapshotItem item = next(in); item != null; item = next(in)) {
        if (item.hasSpec()) {
          numbers.add(item.getSpec().getNumber());
        } else if (!item.hasMeta()) {
          break;
        }
      }
      return numbers;
    } catch (IOException e) {
      throw new IllegalStateException("Expected a snapshot, but its bytes are damaged", e);
    }
  }

  private static void restore(SnapshotItem item, ClusterState state) {
    switch (item.getKindCase()) {
      case SPEC ->
          state.restoreSpec(
              item.getSpec().getNumber(),
              SpecHash.of(item.getSpec().getHash().toByteArray()),
              item.getSpec().getLastUsed());
      case WORKER -> state.restoreWorker(EventCodec.decode(item.getWorker()));
      case CORDON -> state.restoreCordon(EventCodec.decode(item.getCordon()));
      case RUN -> state.restoreRun(RunCodec.decode(item.getRun()));
      case RETAINED -> {
        RetainedRuns rows = item.getRetained();
        for (int i = 0; i < rows.getIdHashCount(); i++) {
          state.restoreRetained(
              new Retained.Row(
                  rows.getRun(i),
                  rows.getIdHash(i),
                  rows.getKeyHash(i),
                  rows.getBodyHash(i),
                  rows.getHistorySeq(i),
                  rows.getRetiredAt(i)));
        }
      }
      case META, KIND_NOT_SET ->
          throw new UnknownEventException(
              "The snapshot holds an item that this version does not know: upgrade this node.");
    }
  }

  private static @Nullable SnapshotItem next(InputStream in) throws IOException {
    return SnapshotItem.parseDelimitedFrom(in);
  }
}
