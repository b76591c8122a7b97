package dev.baton.scheduler.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn.Op;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.engine.RunImage;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Load equals live: the same entry gives the same bytes, however a replica came to it. */
class SnapshotCodecTest {
  private static final Keys KEYS = new Keys("test");

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldBringBackAStateThatIsWrittenAsTheSameBytes(long seed) {
    RandomLeader leader = new RandomLeader(KEYS, seed);
    for (int i = 0; i < 20; i++) {
      leader.entries(20);
      ByteString bytes = bytes(leader.replica);
      Replica loaded = load(bytes, leader.replica);
      assertEquals(leader.replica.seq(), loaded.seq());
      assertEquals(leader.replica.term(), loaded.term());
      assertEquals(leader.replica.time(), loaded.time());
      assertEquals(leader.replica.state().leaderNodeId(), loaded.state().leaderNodeId());
      assertEquals(bytes, bytes(loaded), () -> "seed " + seed + " at " + leader.replica.seq());
    }
    assertFalse(leader.replica.state().runs().isEmpty(), "it is about something");
    assertTrue(leader.replica.state().retained().size() > 0, "it is about something");
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void shouldComeToTheSameBytesByApplyingEntriesAsByDecidingThem(long seed) {
    RandomLeader leader = new RandomLeader(KEYS, seed);
    Replica follower = new Replica(RandomLeader.GENERATION);
    Replica late = null;
    for (int i = 0; i < 300; i++) {
      apply(leader.next(), follower);
      if (late != null) {
        apply(lastWritten, late);
      }
      if (i == 100) {
        late = load(bytes(follower), follower);
      }
      if (i % 25 == 0) {
        assertEquals(bytes(leader.replica), bytes(follower), () -> "seed " + seed);
      }
    }
    assertEquals(
        bytes(leader.replica), bytes(Objects.requireNonNull(late)), "loaded, then applied");
  }

  private RandomLeader.Written lastWritten = new RandomLeader.Written(0, List.of());

  private void apply(RandomLeader.Written written, Replica replica) {
    lastWritten = written;
    Entry entry = null;
    for (Op op : written.ops()) {
      if (op instanceof Op.Put(ByteString key, ByteString value, long lease)) {
        if (key.startsWith(KEYS.specs())) {
          replica.definitions().put(Keys.numberOf(key), SpecStore.decode(value));
        } else if (key.startsWith(KEYS.journal())) {
          entry = Entry.decode(value);
        }
      }
    }
    replica.apply(Objects.requireNonNull(entry));
  }

  @Test
  void shouldBringBackARunAsItWas() {
    RandomLeader leader = new RandomLeader(KEYS, 5);
    leader.entries(300);
    for (Run run : leader.replica.state().runs()) {
      RunImage image = run.image();
      assertEquals(image, RunCodec.decode(RunCodec.encode(image)));
    }
  }

  @Test
  void shouldRefuseDamagedBytes() {
    RandomLeader leader = new RandomLeader(KEYS, 5);
    leader.entries(10);
    ByteString bytes = bytes(leader.replica);
    Replica empty = new Replica(RandomLeader.GENERATION);
    assertThrows(
        IllegalStateException.class,
        () -> SnapshotCodec.decode(bytes.substring(0, bytes.size() / 2), empty.state()));
    assertThrows(
        IllegalStateException.class,
        () -> SnapshotCodec.decode(ByteString.copyFromUtf8("no snapshot"), empty.state()));
  }

  static ByteString bytes(Replica replica) {
    return SnapshotWriter.take(replica, "x").bytes();
  }

  private static Replica load(ByteString bytes, Replica from) {
    Replica loaded = new Replica(RandomLeader.GENERATION);
    for (long spec : SnapshotCodec.specs(bytes)) {
      loaded.definitions().put(spec, Objects.requireNonNull(from.state().spec(spec)).workflow());
    }
    loaded.restored(SnapshotCodec.decode(bytes, loaded.state()));
    return loaded;
  }
}
