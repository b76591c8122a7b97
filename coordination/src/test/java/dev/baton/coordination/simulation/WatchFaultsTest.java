package dev.baton.coordination.simulation;

import static dev.baton.coordination.simulation.Scene.FROM;
import static dev.baton.coordination.simulation.Scene.KEY;
import static dev.baton.coordination.simulation.Scene.SOON;
import static dev.baton.coordination.simulation.Scene.TO;
import static dev.baton.coordination.simulation.Scene.write;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.simulation.Faults.Way;
import dev.baton.coordination.simulation.Scene.Told;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What can happen to a watch, and to the past that it asks for. */
class WatchFaultsTest {
  private final Scene scene = new Scene(11);
  private final World world = scene.world;
  private final SimulatedEtcd cluster = scene.cluster;
  private final Faults faults = cluster.faults();
  private final Etcd etcd = scene.etcd;

  @Test
  void shouldForgetThePastWhenItIsCompacted() {
    long first = scene.await(scene.put("1")).revision();
    scene.await(scene.put("2"));
    faults.compactNow();
    assertEquals(
        Kind.COMPACTED, scene.failure(etcd.list(new ListRequest(FROM, TO, 0, first, false), SOON)));
    Told told = scene.watch(first);
    world.runFor(SOON);
    assertEquals(List.of("open", "COMPACTED"), told.words);
    assertEquals(1, cluster.count(Happening.COMPACTION));
  }

  @Test
  void shouldSometimesFailAWatchThatWasNotHeardOverACompaction() {
    Set<String> ends = new HashSet<>();
    LongStream.range(0, 20)
        .forEach(seed -> {
          Scene other = new Scene(seed);
          Told told = other.watch(0);
          other.world.runFor(SOON);
          other.cluster.faults().cut("a", Way.ANSWERS);
          Etcd client = other.cluster.client("b");
          other.await(client.txn(write(new Op.Put(KEY, ByteString.EMPTY, 0)), SOON));
          other.await(client.txn(write(new Op.Put(FROM, ByteString.EMPTY, 0)), SOON));
          other.cluster.faults().compactNow();
          other.cluster.faults().heal("a");
          other.world.runFor(Duration.ofSeconds(2));
          ends.add(told.words.get(1));
        });
    assertEquals(Set.of("COMPACTED", "2 events"), ends);
  }

  @Test
  void shouldForgetADeleteAtTheCompactedRevision() {
    scene.await(scene.put("1"));
    long deleted = scene.await(etcd.txn(write(new Op.Delete(KEY)), SOON)).revision();
    faults.compactNow();
    Told kind = scene.watch(deleted);
    world.runFor(SOON);
    faults.forgetDeletes(true);
    Told unkind = scene.watch(deleted);
    world.runFor(SOON);
    assertEquals(List.of("open", "1 events"), kind.words);
    assertEquals(List.of("open"), unkind.words);
  }

  @Test
  void shouldBreakWatches() {
    Told told = scene.watch(0);
    world.runFor(SOON);
    faults.breakWatches("b");
    world.runFor(SOON);
    assertEquals(List.of("open"), told.words);
    faults.breakWatches("a");
    world.runFor(SOON);
    assertEquals(List.of("open", "UNKNOWN_OUTCOME"), told.words);
    Told second = scene.watch(0);
    faults.breakWatches(1);
    world.runFor(SOON);
    scene.await(scene.put("1"));
    world.runFor(SOON);
    assertEquals(List.of("open", "UNKNOWN_OUTCOME"), second.words);
    assertEquals(2, cluster.count(Happening.WATCH_BROKEN));
  }

  @Test
  void shouldLoseTheNextEventOfAWatch() {
    Told told = scene.watch(0);
    world.runFor(SOON);
    faults.loseNextWatchEvent("a");
    scene.await(scene.put("1"));
    world.runFor(SOON);
    assertEquals(List.of("open"), told.words);
    scene.await(scene.put("2"));
    world.runFor(SOON);
    assertEquals(List.of("open", "1 events"), told.words);
    assertEquals(1, cluster.count(Happening.WATCH_EVENT_LOST));
  }

  @Test
  void shouldFailAWatchThatIsSilent() {
    scene.await(scene.put("1"));
    Told hanging = scene.watch(0);
    Told cut = Scene.watch(cluster.client("b"), 0);
    world.runFor(SOON);
    faults.hang(0);
    faults.cut("b");
    world.runFor(Duration.ofSeconds(2));
    assertEquals(List.of("open"), hanging.words);
    world.runFor(Duration.ofSeconds(3));
    assertEquals(List.of("open", "UNAVAILABLE"), hanging.words);
    assertEquals(List.of("open", "UNAVAILABLE"), cut.words);
  }

  @Test
  void shouldTellLaterWhatAMemberDidNotTellWhileItHung() {
    Scene follower =
        LongStream.range(0, 20)
            .mapToObj(Scene::new)
            .filter(one -> one.cluster.leader().orElseThrow() != 0)
            .findFirst()
            .orElseThrow();
    Told told = follower.watch(0);
    follower.world.runFor(SOON);
    follower.cluster.faults().hang(0);
    assertEquals(Kind.UNKNOWN_OUTCOME, follower.failure(follower.etcd.get(KEY, SOON)));
    follower.await(follower.put("1"));
    follower.world.runFor(SOON);
    assertEquals(List.of("open"), told.words);
    follower.cluster.faults().resume(0);
    follower.world.runFor(Duration.ofSeconds(2));
    assertEquals(List.of("open", "1 events"), told.words);
  }
}
