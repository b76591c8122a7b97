package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import dev.baton.proto.journal.v1.Head;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.testing.Workflows;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StateLoaderTest extends RealEtcd {
  private RandomLeader leader;

  StateLoaderTest() {
    super(1);
  }

  @BeforeEach
  void fresh() {
    leader = new RandomLeader(keys, 7);
  }

  private CompletableFuture<StateLoader.Loaded> load() {
    return new StateLoader(etcd, keys, strand, RandomLeader.GENERATION).load(false);
  }

  private void append(int entries) {
    leader.entries(entries).forEach(entry -> write(entry.ops()));
  }

  private void assertLoadsTheLeadersState() {
    StateLoader.Loaded loaded = await(load());
    assertEquals(leader.replica.seq(), loaded.replica().seq());
    assertEquals(
        SnapshotCodecTest.bytes(leader.replica), SnapshotCodecTest.bytes(loaded.replica()));
    assertEquals(leader.replica.time(), loaded.headTime());
  }

  private void assertFails(String beginning) {
    CompletionException failure = assertThrows(CompletionException.class, () -> await(load()));
    String message = EtcdException.of(failure).toString();
    assertTrue(message.contains(beginning), () -> message + " is not about: " + beginning);
  }

  /** So much that a snapshot has several chunks. */
  private void fill() {
    Random random = new Random(1);
    for (int i = 0; i < 400; i++) {
      StringBuilder noise = new StringBuilder();
      while (noise.length() < 1_900) {
        noise.append(Long.toString(random.nextLong(), 36));
      }
      leader.submit(
          Workflows.definition(Workflows.diamond("filler")),
          new RunParams.Inline("{\"noise\":\"" + noise + "\"}"),
          "");
      if (i % 100 == 99) {
        write(leader.close().ops());
      }
    }
  }

  private SnapshotManifest snapshot() {
    SnapshotWriter writer = new SnapshotWriter(etcd, keys, strand);
    SnapshotManifest manifest = await(writer.write(SnapshotWriter.take(leader.replica, "first")));
    leader.install(manifest);
    write(leader.close().ops());
    write(List.of(new Op.DeleteRange(keys.journal(), keys.journal(manifest.getSeq() + 1))));
    return manifest;
  }

  @Test
  void shouldLoadNothingFromNothing() {
    StateLoader.Loaded loaded = await(load());
    assertEquals(0, loaded.replica().seq());
    assertEquals(0, loaded.headTime());
    assertEquals(0, loaded.keysRead());
    assertTrue(loaded.revision() > 0);
  }

  @Test
  void shouldLoadFromEntriesAlone() {
    append(200);
    assertLoadsTheLeadersState();
  }

  @Test
  void shouldLoadASnapshotThenEntriesAndWhatTheyName() {
    append(100);
    fill();
    SnapshotManifest manifest = snapshot();
    assertTrue(manifest.getChunks() > 2, () -> manifest.getChunks() + " chunks");
    assertEquals(1, list(keys.journal()).size(), "the entries before it are gone");
    assertLoadsTheLeadersState();
    append(100);
    assertLoadsTheLeadersState();
  }

  @Test
  void shouldLoadADefinitionThatWasDroppedAfterTheSnapshot() {
    leader.submit(Workflows.definition(Workflows.one("dropped")), new RunParams.Inline(""), "");
    write(leader.close().ops());
    var run = leader.replica.state().runs().iterator().next();
    leader.decide(new Command.Cancel(new Command.CallId(1), run.id(), "", ""));
    leader.decide(new Command.Retire(run.number(), 0));
    write(leader.close().ops());
    snapshot();
    leader.decide(new Command.DropSpec(run.created().spec()));
    write(leader.close().ops());
    assertEquals(1, leader.replica.state().droppedSpecs().size());
    assertLoadsTheLeadersState();
  }

  /** One read each would take a node that starts among many of them minutes. */
  @Test
  void shouldReadManyDefinitionsInFewPages() {
    int definitions = 300;
    for (int i = 0; i < definitions; i++) {
      leader.submit(Workflows.definition(Workflows.one("w" + i)), new RunParams.Inline(""), "");
      if (i % 20 == 19) {
        write(leader.close().ops());
      }
    }
    put(
        ByteString.copyFromUtf8(keys.spec(1L << 16).toStringUtf8() + "-beside"),
        ByteString.copyFromUtf8("of nobody"));
    try (UnkindEtcd line = new UnkindEtcd(client("loader"))) {
      StateLoader.Loaded loaded =
          await(new StateLoader(line, keys, strand, RandomLeader.GENERATION).load(false));
      assertEquals(leader.replica.seq(), loaded.replica().seq());
      assertEquals(
          SnapshotCodecTest.bytes(leader.replica), SnapshotCodecTest.bytes(loaded.replica()));
      long reads = line.reads.stream().filter(key -> key.startsWith(keys.specs())).count();
      assertTrue(reads <= 5, () -> reads + " reads of " + definitions + " definitions");
    }
  }

  @Test
  void shouldSayThatAChunkIsMissing() {
    fill();
    SnapshotManifest manifest = snapshot();
    delete(keys.snapshotChunk(manifest.getSeq(), manifest.getTry(), 1));
    assertFails("Expected snapshot " + manifest.getSeq() + " of " + manifest.getBytes());
  }

  @Test
  void shouldSayThatAChunkIsDamaged() {
    fill();
    SnapshotManifest manifest = snapshot();
    ByteString key = keys.snapshotChunk(manifest.getSeq(), manifest.getTry(), 0);
    byte[] bytes = get(key).value().toByteArray();
    bytes[1000] ^= 1;
    put(key, ByteString.copyFrom(bytes));
    assertFails("or their checksum differs");
  }

  @Test
  void shouldSayThatAnEntryIsMissing() {
    append(20);
    delete(keys.journal(11));
    assertFails("Expected entry 11 of term");
  }

  @Test
  void shouldSayThatTheJournalEndsBeforeItsHead() {
    append(20);
    put(keys.head(), Head.newBuilder().setTerm(10).setSeq(25).setTime(1).build().toByteString());
    assertFails("Expected the journal to end at entry 25, but it ends at 20");
  }

  @Test
  void shouldSayThatADefinitionIsMissing() {
    append(20);
    list(keys.specs()).forEach(spec -> delete(spec.key()));
    assertFails("Expected definition ");
  }

  @Test
  void shouldSayThatATermFell() {
    append(20);
    OpenEntry old = new OpenEntry(keys, 1, 21, leader.now());
    old.add(new dev.baton.scheduler.engine.Event.TermOpened("old"), leader.now());
    put(keys.journal(21), old.encodeEntry());
    put(keys.head(), old.encodeHead());
    assertFails("Expected entry 21 of term ");
  }

  @Test
  void shouldFailWhenItsRevisionIsCompactedAndWorkTheNextTime() {
    append(100);
    try (UnkindEtcd line = new UnkindEtcd(client("loader"))) {
      line.hold(key -> key.startsWith(keys.journal()));
      StateLoader loader = new StateLoader(line, keys, strand, RandomLeader.GENERATION);
      CompletableFuture<StateLoader.Loaded> load = loader.load(false);
      awaitUntil(
          "the first page", () -> line.reads.stream().anyMatch(k -> k.startsWith(keys.journal())));
      append(10);
      compactNow();
      line.release();
      CompletionException failure = assertThrows(CompletionException.class, () -> await(load));
      assertEquals(EtcdException.Kind.COMPACTED, EtcdException.of(failure).kind());
      assertEquals(110, await(loader.load(false)).replica().seq());
    }
  }

  @Test
  void shouldCountWhatItReads() {
    append(10);
    assertEquals(10, await(load()).keysRead());
    assertEquals(List.of(), list(new Keys("other").journal()));
  }
}
