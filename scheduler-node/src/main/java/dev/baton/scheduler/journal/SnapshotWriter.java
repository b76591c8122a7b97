package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Strand;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.scheduler.model.Limits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Writes the chunks of a snapshot, each put only if it is absent and never changed, and reads them
 * back. Serialising stops the strand for its time; the chunks are written one after another.
 */
public final class SnapshotWriter {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final Etcd etcd;
  private final Keys keys;
  private final Strand strand;

  public SnapshotWriter(Etcd etcd, Keys keys, Strand strand) {
    this.etcd = etcd;
    this.keys = keys;
    this.strand = strand;
  }

  /** A snapshot in memory. */
  public record Taken(SnapshotManifest manifest, ByteString bytes) {}

  /**
   * Serialises a replica as it is now.
   *
   * @param attempt random: no two tries share their chunks
   */
  public static Taken take(Replica replica, String attempt) {
    ByteString bytes =
        SnapshotCodec.encode(
            replica.state(),
            new SnapshotCodec.Position(replica.term(), replica.seq(), replica.time()));
    int chunks = (bytes.size() + Limits.PART_BYTES - 1) / Limits.PART_BYTES;
    SnapshotManifest manifest =
        SnapshotManifest.newBuilder()
            .setSeq(replica.seq())
            .setTry(attempt)
            .setChunks(chunks)
            .setBytes(bytes.size())
            .setCrc(StateLoader.crc(bytes))
            .build();
    return new Taken(manifest, bytes);
  }

  /** Writes all chunks; what it completes with may be offered to the leader. */
  public CompletableFuture<SnapshotManifest> write(Taken taken) {
    return write(taken, 0);
  }

  private CompletableFuture<SnapshotManifest> write(Taken taken, int index) {
    SnapshotManifest manifest = taken.manifest();
    if (index == manifest.getChunks()) {
      return CompletableFuture.completedFuture(manifest);
    }
    int from = index * Limits.PART_BYTES;
    ByteString chunk =
        taken.bytes().substring(from, Math.min(taken.bytes().size(), from + Limits.PART_BYTES));
    ByteString key = keys.snapshotChunk(manifest.getSeq(), manifest.getTry(), index);
    Txn txn =
        new Txn(
            List.of(new Compare.CreateRevision(key, 0)),
            List.of(new Op.Put(key, chunk, 0)),
            List.of());
    return etcd.txn(txn, DEADLINE)
        .thenComposeAsync(
            reply -> {
              if (!reply.succeeded()) {
                throw new IllegalStateException("Expected no chunk at " + key.toStringUtf8());
              }
              return write(taken, index + 1);
            },
            strand);
  }

  /** Fails unless the chunks are in etcd as the manifest says. */
  public CompletableFuture<SnapshotManifest> check(SnapshotManifest manifest) {
    return read(manifest, 0, new ArrayList<>());
  }

  private CompletableFuture<SnapshotManifest> read(
      SnapshotManifest manifest, int index, List<ByteString> chunks) {
    if (index == manifest.getChunks()) {
      StateLoader.joined(chunks, manifest);
      return CompletableFuture.completedFuture(manifest);
    }
    return etcd.get(keys.snapshotChunk(manifest.getSeq(), manifest.getTry(), index), DEADLINE)
        .thenComposeAsync(
            reply -> {
              if (reply.keyValue() == null) {
                throw new IllegalStateException(
                    "Expected chunk "
                        + index
                        + " of snapshot "
                        + manifest.getSeq()
                        + ", but it is absent");
              }
              chunks.add(reply.keyValue().value());
              return read(manifest, index + 1, chunks);
            },
            strand);
  }
}
