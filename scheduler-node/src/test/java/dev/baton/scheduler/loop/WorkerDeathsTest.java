package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Workers whose process ends while their lease holds. */
class WorkerDeathsTest extends RealEtcd {
  private LoopCluster nodes;
  private Node leader;
  private TestWorker worker;

  WorkerDeathsTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys);
    leader = nodes.node("n1").awaitLeading();
    worker = nodes.worker("w", 1);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  /** The leader has asked, and has heard the answer. */
  private void awaitAsked() {
    awaitUntil("it is asked", () -> nodes.asked.contains(LoopCluster.portOf(worker)));
    await(leader.read(0, SOON, ReadView::seq));
  }

  private RunId crashWhileItRuns() {
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    awaitUntil("it runs", () -> worker.hasReceived("a", 1));
    nodes.crash(worker);
    return id;
  }

  @Test
  void shouldTryElsewhereAtOnceWhatRanWhereThePortRefuses() {
    nodes.openPorts.put(LoopCluster.portOf(worker), worker.life.incarnation());
    awaitAsked();
    RunId id = crashWhileItRuns();
    TestWorker other = nodes.worker("other", 1);
    other.handle(assignment -> LoopCluster.success(assignment, "1"));
    leader.awaitStatus(id, RunStatus.SUCCESS);
    assertTrue(other.hasReceived("a", 2));
    awaitUntil("its key is deleted", () -> !exists(keys.worker("w")));
    assertEquals(0, leader.faults(), leader.told::toString);
  }

  /** A machine that has just started may be slow. */
  @Test
  void shouldSoonAskAgainAWorkerThatDidNotAnswer() {
    awaitAsked();
    nodes.openPorts.put(LoopCluster.portOf(worker), worker.life.incarnation());
    awaitUntil(
        "it is asked again",
        () ->
            nodes.asked.stream().filter(port -> port.equals(LoopCluster.portOf(worker))).count()
                > 1);
    await(leader.read(0, SOON, ReadView::seq));
    crashWhileItRuns();
    TestWorker other = nodes.worker("other", 1);
    awaitUntil("it is tried elsewhere", () -> other.hasReceived("a", 2));
  }

  @Test
  void shouldWaitForTheLeaseOfAWorkerThatWasNeverReached() {
    awaitAsked();
    crashWhileItRuns();
    TestWorker other = nodes.worker("other", 1);
    awaitAlways("it waits", Duration.ofSeconds(1), () -> !other.hasReceived("a", 2));
    assertFalse(other.hasReceived("a", 1));
  }

  @Test
  void shouldWaitForTheLeaseOfAWorkerWhosePortStillAccepts() {
    nodes.openPorts.put(LoopCluster.portOf(worker), worker.life.incarnation());
    awaitAsked();
    RunId id = leader.run(nodes.submission(Workflows.one("w")));
    awaitUntil("it runs", () -> worker.hasReceived("a", 1));
    leader.loop.onStreamClosed(worker.life);
    TestWorker other = nodes.worker("other", 1);
    awaitAlways("it waits", Duration.ofSeconds(1), () -> !other.hasReceived("a", 2));
    leader.loop.onStreamOpened(worker.life);
    assertEquals(RunStatus.RUNNING, leader.status(id));
  }
}
