package dev.baton.coordination;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.v1.ClusterRecord;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * What all nodes of a cluster agree on since its first one.
 *
 * @param generation random; messages of another generation are dropped
 * @param macKey for message authentication codes; never printed
 */
public record ClusterIdentity(long generation, int formatVersion, ByteString macKey) {
  /** The newest format of stored data that this program can read and write. */
  public static final int FORMAT_VERSION = 1;

  private static final int MAC_KEY_BYTES = 32;
  private static final Duration CALL = Duration.ofSeconds(1);

  /**
   * Reads the cluster's identity and makes it if this node is the first. It is tried again while
   * etcd does not answer; a cluster of a newer format is an {@link IllegalStateException}.
   *
   * @param random of cryptographic quality in production: {@link SecureRandom}
   * @param bound after which it fails with etcd's last failure
   */
  public static CompletableFuture<ClusterIdentity> establish(
      Etcd etcd, Strand strand, Keys keys, RandomGenerator random, Duration bound) {
    byte[] macKey = new byte[MAC_KEY_BYTES];
    random.nextBytes(macKey);
    ClusterRecord fresh =
        ClusterRecord.newBuilder()
            .setGeneration(random.nextLong())
            .setFormatVersion(FORMAT_VERSION)
            .setMacKey(ByteString.copyFrom(macKey))
            .build();
    Txn createOrRead =
        new Txn(
            List.of(new Compare.CreateRevision(keys.cluster(), 0)),
            List.of(
                new Op.Put(keys.cluster(), fresh.toByteString(), 0), new Op.Get(keys.cluster())),
            List.of(new Op.Get(keys.cluster())));
    Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(2), random);
    CompletableFuture<KeyValue> found = new CompletableFuture<>();
    long end = strand.nanoTime() + bound.toNanos();
    strand.execute(() -> attempt(etcd, strand, createOrRead, backoff, end, found));
    return found.thenApplyAsync(keyValue -> of(keyValue, keys), strand);
  }

  private static void attempt(
      Etcd etcd,
      Strand strand,
      Txn createOrRead,
      Backoff backoff,
      long endNanos,
      CompletableFuture<KeyValue> result) {
    Answer.of(
        etcd.txn(createOrRead, CALL),
        strand,
        reply -> result.complete(reply.read().getFirst()),
        failure -> {
          boolean passes = failure.isUnknown() || failure.isStall();
          if (!passes || strand.nanoTime() - endNanos >= 0) {
            result.completeExceptionally(failure);
          } else {
            strand.schedule(
                backoff.next(),
                () -> attempt(etcd, strand, createOrRead, backoff, endNanos, result));
          }
        });
  }

  private static ClusterIdentity of(KeyValue found, Keys keys) {
    ClusterRecord record;
    try {
      record = ClusterRecord.parseFrom(found.value());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(
          "The key " + keys.cluster().toStringUtf8() + " in etcd was not written by Baton.", e);
    }
    if (record.getFormatVersion() > FORMAT_VERSION) {
      throw new IllegalStateException(
          "The data under "
              + keys.prefix()
              + " in etcd has format "
              + record.getFormatVersion()
              + ", but this program knows formats up to "
              + FORMAT_VERSION
              + ": start the version that wrote it, or a newer one.");
    }
    return new ClusterIdentity(
        record.getGeneration(), record.getFormatVersion(), record.getMacKey());
  }

  @Override
  public String toString() {
    return "ClusterIdentity[generation="
        + Long.toHexString(generation)
        + ", formatVersion="
        + formatVersion
        + "]";
  }
}
