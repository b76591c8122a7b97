package dev.baton.scheduler.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.scheduler.loop.LoopCluster.Node;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.Workflows;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two runs are kept, for an hour at most. */
class RetentionTest extends RealEtcd {
  private static final String LONG_PARAMS = "{\"x\":\"" + "p".repeat(3_000) + "\"}";

  private LoopCluster nodes;
  private Node node;
  private TestWorker worker;

  RetentionTest() {
    super(1);
  }

  @BeforeEach
  void start() {
    nodes = new LoopCluster(() -> client("node"), etcd, keys);
    node =
        nodes
            .node(
                "n1",
                s ->
                    new LoopSettings(
                        s.nodeId(),
                        s.maxLiveTasks(),
                        2,
                        Duration.ofHours(1),
                        s.snapshotBytes(),
                        s.snapshotEntries()))
            .awaitLeading();
    worker = nodes.worker("w", 50);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  /** A run that leaves something in every folder. */
  private RunId runToTheEnd() {
    RunId id = node.run(nodes.submission(Workflows.wide("w", 210), LONG_PARAMS, ""));
    // It leaves two seconds after its end, by journal time.
    awaitUntil("it ends", () -> node.read(view -> view.state().ended().size() == 1));
    node.advance(Duration.ofSeconds(3));
    node.awaitRetired(id);
    return id;
  }

  private boolean isRetained(RunId id) {
    return node.read(view -> view.state().retained().find(id) != null);
  }

  private List<Long> runs(ByteString folder) {
    int depth = keys.prefix().split("/", -1).length;
    return list(folder).stream()
        .map(KeyValue::key)
        .map(key -> key.toStringUtf8().split("/", -1)[depth])
        .map(hex -> HexFormat.fromHexDigitsToLong(hex))
        .distinct()
        .toList();
  }

  @Test
  void shouldForgetTheOldestRunsWithAllThatTheyLeft() {
    String output = "\"" + "o".repeat(2_100) + "\"";
    worker.handle(assignment ->
        LoopCluster.success(
            assignment,
            assignment.name().taskId().equals("t7") ? output : "\"" + "i".repeat(400) + "\""));
    RunId first = runToTheEnd();
    RunId second = runToTheEnd();
    RunId third = runToTheEnd();
    assertEquals(3, list(keys.history()).size());
    assertEquals(3, runs(keys.historyParts()).size());
    assertEquals(3, runs(keys.payloads()).size());
    assertEquals(3, list(keys.params()).size());
    assertTrue(isRetained(first), "an id is remembered for 10 minutes, whatever retention says");

    node.advance(Duration.ofMinutes(11));
    awaitUntil("it is forgotten", () -> !isRetained(first));
    assertTrue(isRetained(second));
    assertTrue(isRetained(third));
    awaitUntil("its record is gone", () -> list(keys.history()).size() == 2);
    assertEquals(2, runs(keys.historyParts()).size());
    assertEquals(2, runs(keys.payloads()).size());
    assertEquals(2, list(keys.params()).size());
    assertEquals(List.of(), list(keys.params(first.toString())));

    node.advance(Duration.ofHours(1));
    awaitUntil("all are forgotten", () -> !isRetained(third));
    awaitUntil("all records are gone", () -> list(keys.history()).isEmpty());
    assertEquals(List.of(), list(keys.historyParts()));
    assertEquals(List.of(), list(keys.payloads()));
    assertEquals(List.of(), list(keys.params()));
    assertEquals(0, node.faults(), node.told::toString);
  }

  @Test
  void shouldDeleteNothingBeforeItsEndIsDurable() {
    worker.handle(assignment -> LoopCluster.success(assignment, "1"));
    RunId id = node.run(nodes.submission(Workflows.one("w")));
    node.awaitRetired(id);
    node.appends.down = true;
    node.advance(Duration.ofHours(2));
    awaitAlways("it stays", Duration.ofMillis(1_500), () -> list(keys.history()).size() == 1);
    node.appends.down = false;
    awaitUntil("it goes", () -> list(keys.history()).isEmpty());
    assertFalse(isRetained(id));
  }

  @Test
  void shouldDropDefinitionsThatNobodyUses() {
    worker.handle(assignment -> LoopCluster.success(assignment, "1"));
    node.awaitRetired(node.run(nodes.submission(Workflows.one("w"))));
    long spec = node.read(view -> view.state().specs().iterator().next().number());
    node.advance(Duration.ofMinutes(9));
    awaitAlways(
        "it stays",
        Duration.ofMillis(300),
        () -> node.read(view -> view.state().specs().size() == 1));
    node.advance(Duration.ofMinutes(2));
    awaitUntil("it is dropped", () -> node.read(view -> view.state().specs().isEmpty()));
    assertTrue(exists(keys.spec(spec)), "the journal names it");
    node.run(nodes.submission(Workflows.one("w")));
    long again = node.read(view -> view.state().specs().iterator().next().number());
    assertTrue(again > spec, "the same content has a new number");
    assertTrue(exists(keys.spec(again)));
  }
}
