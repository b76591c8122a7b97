package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.journal.v1.SnapshotManifest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SnapshotWriterTest extends RealEtcd {
  private SnapshotWriter writer;
  private SnapshotWriter.Taken taken;

  SnapshotWriterTest() {
    super(1);
  }

  @BeforeEach
  void fresh() {
    writer = new SnapshotWriter(etcd, keys, strand);
    RandomLeader leader = new RandomLeader(keys, 3);
    leader.entries(50);
    taken = SnapshotWriter.take(leader.replica, "a");
  }

  private static void assertFails(CompletableFuture<?> call, String text) {
    CompletionException failure = assertThrows(CompletionException.class, () -> await(call));
    assertTrue(String.valueOf(failure.getMessage()).contains(text), failure::toString);
  }

  @Test
  void shouldWriteWhatItsManifestSays() {
    SnapshotManifest manifest = await(writer.write(taken));
    assertEquals(50, manifest.getSeq());
    assertEquals(manifest.getChunks(), list(keys.snapshots(50)).size());
    assertEquals(manifest, await(writer.check(manifest)));
  }

  @Test
  void shouldNeverChangeAChunk() {
    await(writer.write(taken));
    assertFails(writer.write(taken), "Expected no chunk at");
  }

  @Test
  void shouldNotPassWhatIsNotThereOrIsDamaged() {
    SnapshotManifest manifest = await(writer.write(taken));
    ByteString chunk = keys.snapshotChunk(50, "a", 0);
    put(chunk, get(chunk).value().concat(ByteString.copyFromUtf8("x")));
    assertFails(writer.check(manifest), "Expected snapshot 50");
    delete(chunk);
    assertFails(writer.check(manifest), "Expected chunk 0 of snapshot 50");
  }
}
