package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.engine.Fleet.Standing;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FleetTest {
  private static final WorkerLife LIFE = new WorkerLife("w", "1");

  private final EngineFixture cluster = new EngineFixture();

  private Standing standing() {
    return cluster.fleet.standing(LIFE, cluster.now());
  }

  @Test
  void shouldKnowAWorkerThatIsRegisteredAndHeardOf() {
    cluster.worker(LIFE, 1, "x");
    assertEquals(Standing.CONNECTED, standing());
    assertEquals(1, cluster.fleet.connected().size());
  }

  @Test
  void shouldSuspectAWorkerThatIsSilent() {
    cluster.worker(LIFE, 1, "x");
    cluster.advanceInSilence(Limits.SUSPECT_AFTER.minusMillis(1));
    assertEquals(Standing.CONNECTED, standing());
    cluster.advanceInSilence(Duration.ofMillis(1));
    assertEquals(Standing.SUSPECT, standing());
    cluster.fleet.heard(LIFE, cluster.now());
    assertEquals(Standing.CONNECTED, standing());
  }

  @Test
  void shouldGiveUpAWorkerThatStaysSilent() {
    cluster.worker(LIFE, 1, "x");
    cluster.advanceInSilence(Limits.SUSPECT_AFTER.plus(Limits.LOST_AFTER).minusMillis(1));
    assertEquals(Standing.SUSPECT, standing());
    cluster.advanceInSilence(Duration.ofMillis(1));
    assertEquals(Standing.LOST, standing());
  }

  @Test
  void shouldGiveUpAWorkerWithoutAStream() {
    cluster.worker(LIFE, 1, "x");
    cluster.fleet.streamClosed(LIFE, cluster.now());
    assertEquals(Standing.SUSPECT, standing());
    cluster.advanceInSilence(Limits.LOST_AFTER);
    assertEquals(Standing.LOST, standing());
    cluster.fleet.streamOpened(LIFE, cluster.now());
    assertEquals(Standing.CONNECTED, standing());
  }

  @Test
  void shouldKeepAWorkerThatHasOneOfTwoStreams() {
    cluster.worker(LIFE, 1, "x");
    cluster.fleet.streamOpened(LIFE, cluster.now());
    cluster.fleet.streamClosed(LIFE, cluster.now());
    assertEquals(Standing.CONNECTED, standing());
  }

  @Test
  void shouldKeepAWorkerWhoseKeyIsGoneWhileItSpeaks() {
    cluster.worker(LIFE, 1, "x");
    cluster.fleet.unregister("w");
    cluster.advance(Duration.ofMinutes(1));
    assertEquals(Standing.UNREGISTERED, standing());
    cluster.advanceInSilence(Limits.SUSPECT_AFTER);
    assertEquals(Standing.LOST, standing());
  }

  @Test
  void shouldGiveUpALifeThatIsProvenGoneUntilItSpeaksAgain() {
    cluster.worker(LIFE, 1, "x");
    cluster.fleet.provenGone(LIFE);
    assertEquals(Standing.CONNECTED, standing(), "it has a stream");
    cluster.fleet.streamClosed(LIFE, cluster.now());
    assertEquals(Standing.SUSPECT, standing());
    cluster.fleet.provenGone(LIFE);
    assertEquals(Standing.LOST, standing());
    cluster.fleet.openTerm(cluster.now());
    assertEquals(Standing.LOST, standing(), "in a young term, too");
    cluster.fleet.streamOpened(LIFE, cluster.now());
    assertEquals(Standing.CONNECTED, standing());
  }

  @Test
  void shouldGiveUpALifeThatAnotherHasTakenThePlaceOf() {
    cluster.worker(LIFE, 1, "x");
    cluster.advance(Duration.ofMinutes(1));
    cluster.restarted(LIFE, 1);
    assertEquals(Standing.LOST, standing());
  }

  @Test
  void shouldNotJudgeInAYoungTerm() {
    assertEquals(Standing.UNKNOWN, standing());
    cluster.register(LIFE, 1, "x");
    assertEquals(Standing.SUSPECT, standing());
    cluster.advanceInSilence(Limits.INVENTORY_GRACE);
    assertEquals(Standing.SUSPECT, standing());
    cluster.advanceInSilence(Limits.LOST_AFTER);
    assertEquals(Standing.LOST, standing());
    cluster.fleet.openTerm(cluster.now());
    assertEquals(Standing.SUSPECT, standing());
    cluster.fleet.unregister("w");
    assertEquals(Standing.UNKNOWN, standing());
    cluster.advanceInSilence(Limits.INVENTORY_GRACE);
    assertEquals(Standing.UNKNOWN, standing(), "it may have registered unseen");
    cluster.fleet.listed();
    assertEquals(Standing.LOST, standing());
  }

  @Test
  void shouldForgetLivesThatAreGoneAndIdle() {
    WorkerLife w = cluster.worker("w", 1);
    Run run = cluster.submit(Flow.of("a"));
    cluster.assignAll();
    cluster.fleet.streamClosed(w, cluster.now());
    cluster.fleet.unregister("w");
    cluster.fleet.forgetGone(cluster.state.workers());
    cluster.advanceInSilence(Limits.INVENTORY_GRACE);
    assertEquals(Standing.LOST, cluster.fleet.standing(w, cluster.now()));
    cluster.lose(w);
    cluster.fleet.forgetGone(cluster.state.workers());
    assertEquals(0, cluster.fleet.used(w, cluster.state.workers()));
    cluster.cancel(run);
  }

  @Test
  void shouldNotLetAStarStandForShell() {
    cluster.worker(LIFE, 1, "*");
    assertTrue(cluster.fleet.isOffered("anything"));
    assertFalse(cluster.fleet.isOffered("shell"));
    cluster.worker("v", 1, "*", "shell");
    assertTrue(cluster.fleet.isOffered("shell"));
  }
}
