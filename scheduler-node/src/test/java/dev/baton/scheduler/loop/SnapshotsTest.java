package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Keys;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.scheduler.engine.Effect.Answer.SubmittedBefore;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.Workflows;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Snapshots that are due every 100 entries. */
class SnapshotsTest extends RealEtcd {
  private static final int ENTRIES = 100;
  private LoopCluster nodes;
  private Node leader;

  SnapshotsTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys);
    leader = nodes.node("n1", SnapshotsTest::often).awaitLeading();
    nodes.worker("w", 8).handle(assignment -> LoopCluster.success(assignment, "{\"x\":1}"));
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  private static LoopSettings often(LoopSettings s) {
    return new LoopSettings(
        s.nodeId(), s.maxLiveTasks(), s.retainRuns(), s.retainFor(), s.snapshotBytes(), ENTRIES);
  }

  /** Runs things until so many snapshots were installed. */
  private void runUntilSnapshots(int count) {
    while (snapshots() < count) {
      leader.run(nodes.submission(Workflows.diamond("w")));
    }
  }

  private long snapshots() {
    return leader.told.stream().filter(word -> word.equals("snapshot")).count();
  }

  private SnapshotManifest installed() {
    try {
      return SnapshotManifest.parseFrom(get(keys.snapshot()).value());
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  private void awaitTruncated() {
    awaitUntil("the snapshot stands", () -> exists(keys.snapshot()));
    awaitUntil(
        "its entries are gone",
        () -> Keys.numberOf(list(keys.journal()).getFirst().key()) == installed().getSeq() + 1);
    awaitUntil(
        "older snapshots are gone", () -> list(keys.snapshots()).size() == installed().getChunks());
  }

  /** Two that follow come to the same bytes at the same entry. */
  private static void assertSameState(Node one, Node other) {
    awaitUntil(
        "they stand at the same entry",
        () -> {
          SnapshotManifest first = await(one.loop.takeSnapshot());
          SnapshotManifest second = await(other.loop.takeSnapshot());
          assertTrue(
              first.getSeq() != second.getSeq() || first.getCrc() == second.getCrc(),
              "load equals live");
          return first.getSeq() == second.getSeq();
        });
  }

  @Test
  void shouldTakeItselfWhatNobodyElseCanAndTruncateTheJournal() {
    RunId first = leader.run(nodes.submission(Workflows.diamond("w"), "", "first"));
    runUntilSnapshots(2);
    awaitTruncated();
    assertFalse(leader.told.stream().anyMatch(word -> word.startsWith("asks")));
    Node second = nodes.node("n2", SnapshotsTest::often).awaitStandby();
    Node third = nodes.node("n3", SnapshotsTest::often).awaitStandby();
    leader.awaitRetired(first);
    leader.run(nodes.submission(Workflows.diamond("w")));
    assertSameState(second, third);
    leader.resign();
    Node next = nodes.leader();
    assertTrue(
        await(next.submit(nodes.submission(Workflows.diamond("w"), "", "first"))).answer()
            instanceof SubmittedBefore,
        "it knows what is long gone from the journal");
    assertEquals(0, leader.faults() + second.faults() + third.faults());
  }

  @Test
  void shouldAskAFollowerForIt() {
    Node follower = nodes.node("n2", SnapshotsTest::often).awaitStandby();
    runUntilSnapshots(2);
    awaitTruncated();
    assertTrue(leader.told.contains("asks n2"));
    Node loaded = nodes.node("n3", SnapshotsTest::often).awaitStandby();
    assertSameState(follower, loaded);
    assertEquals(0, leader.faults(), leader.told::toString);
  }

  @Test
  void shouldTakeItItselfWhenTheFollowerFails() {
    Node follower = nodes.node("n2", SnapshotsTest::often).awaitStandby();
    follower.failsSnapshots = true;
    runUntilSnapshots(1);
    awaitTruncated();
    assertTrue(leader.told.contains("asks n2"));
    assertEquals(0, leader.faults(), leader.told::toString);
    List<KeyValue> chunks = list(keys.snapshots());
    assertEquals(installed().getChunks(), chunks.size());
  }

  @Test
  void shouldNotWaitForAFollowerThatHasLeft() {
    Node follower = nodes.node("n2", SnapshotsTest::often).awaitStandby();
    follower.standsStill = true;
    while (!leader.told.contains("asks n2")) {
      leader.run(nodes.submission(Workflows.diamond("w")));
    }
    follower.kill();
    runUntilSnapshots(1);
    awaitTruncated();
    assertEquals(0, leader.faults(), leader.told::toString);
  }
}
