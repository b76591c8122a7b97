package dev.baton.cli.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.cli.bench.BenchResult.CpuMicrosPerTask;
import dev.baton.cli.bench.BenchResult.Failover;
import dev.baton.cli.bench.BenchResult.Setup;
import dev.baton.cli.bench.BenchResult.Steady;
import dev.baton.cli.bench.Shape.Dependencies;
import dev.baton.client.Ulid;
import dev.baton.workflow.Judged;
import dev.baton.workflow.Workflow;
import dev.baton.workflow.WorkflowReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchPartsTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void shouldMakeWorkflowsOfTheirShape() {
    assertEquals(5, Shape.DIAMOND.tasks());
    assertEquals(10, Shape.CHAIN.tasks());
    assertEquals(102, Shape.WIDE.tasks());
    assertEquals(new Dependencies(0, 0), Shape.WIDE.dependencies(0));
    assertEquals(new Dependencies(0, 1), Shape.WIDE.dependencies(100));
    assertEquals(new Dependencies(1, 101), Shape.WIDE.dependencies(101));
    assertEquals(new Dependencies(8, 9), Shape.CHAIN.dependencies(9));
    for (Shape shape : Shape.values()) {
      Workflow workflow = read(shape.definition(100));
      assertEquals(shape.tasks(), workflow.tasks().size());
      for (int task = 0; task < shape.tasks(); task++) {
        Dependencies before = shape.dependencies(task);
        assertEquals(before.to() - before.from(), workflow.task(task).dependsOn().size());
        assertEquals(task, Shape.indexOf(workflow.task(task).id()));
      }
    }
  }

  @Test
  void shouldMakeAStandingLoadOfSoManyTasks() {
    List<String> definitions = Preload.definitions(25_000);

    assertEquals(3, definitions.size());
    assertEquals(30, Preload.running(25_000));
    assertEquals(10_000, read(definitions.get(0)).tasks().size());
    assertEquals(5_000, read(definitions.get(2)).tasks().size());
    assertEquals(List.of(), Preload.definitions(0));
  }

  @Test
  void shouldMeasureHopsAndFirstReceipts() throws IOException {
    Path trace = directory.resolve("w1.trace");
    Files.writeString(
        trace,
        """
        A R1 t0 1 20 7 1000 5
        S R1 t0 1 2000000 5
        E R1 t0 1 3000000 5
        A COLD t0 1 21 7 1000 5
        S COLD t0 1 1 5
        E COLD t0 1 2 5
        S R1 t1 1 4000000 5
        S R1 t2 1 5000000 5
        S R1 t3 1 6000000 5
        E R1 t1 1 7000000 5
        E R1 t3 1 9000000 5
        E R1 t2 1 8000000 5
        A R1 t4 1 25 8 8500000 5
        A R1 t4 1 30 8 9500000 5
        A R1 t4 1 31 8 9600000 5
        S R1 t4 1 13000000 5
        E R1 t4 1 14000000 5
        S R2 t0 1
        """);
    TraceReader reader = new TraceReader(Shape.DIAMOND, run -> !run.equals("COLD"));
    reader.read(List.of(trace));

    Percentiles hops = Percentiles.of(reader.hops());
    assertEquals(4, hops.count());
    assertEquals(4, hops.max(), 0.01);
    assertEquals(9_500_000, reader.firstReceiptNanos(8, 30));
    assertEquals(8_500_000, reader.firstReceiptNanos(8, 1));
    assertEquals(0, reader.firstReceiptNanos(9, 1));
    assertEquals(7, reader.starts());
    assertEquals(7_000_000, reader.longestGapNanos(2_000_000, 14_000_000));
    assertEquals(500_000, reader.longestGapNanos(6_500_000, 7_000_000), "none within");
    assertEquals(6_500_000, reader.longestGapNanos(13_500_000, 20_000_000), "none after");
    assertEquals(1_000_000, reader.longestGapNanos(3_000_000, 6_500_000));
  }

  @Test
  void shouldTellAMetricThatIsMissingFromOneThatIsZero() {
    NodeMetric metric = new NodeMetric("baton_failover_wrong_guesses_total");
    assertEquals(2, metric.in("other 1.0\nbaton_failover_wrong_guesses_total 2.0\n").orElse(-1));
    assertEquals(0, metric.in("baton_failover_wrong_guesses_total{a=\"b\"} 0.0\n").orElse(-1));
    assertTrue(metric.in("# TYPE baton_failover_wrong_guesses_total counter\n").isEmpty());
    assertTrue(metric.in("").isEmpty());
  }

  @Test
  void shouldTellPercentilesInMilliseconds() {
    Histogram histogram = Percentiles.histogram();
    for (int i = 1; i <= 100; i++) {
      Percentiles.record(histogram, i * 1_000_000L);
    }
    Percentiles percentiles = Percentiles.of(histogram);

    assertEquals(100, percentiles.count());
    assertEquals(50, percentiles.p50(), 0.1);
    assertEquals(99, percentiles.p99(), 0.1);
    assertEquals(100, percentiles.max(), 0.1);
  }

  @Test
  void shouldKeepTheNamesOfTheResult() {
    Percentiles some = new Percentiles(1, 2, 3, 4);
    JsonNode json =
        new JsonMapper()
            .valueToTree(
                new BenchResult(
                    new Setup("v", "chain", 10, 1, 0, 0, "KILL", 2, 3, 3, 1, 16, 2),
                    1,
                    10,
                    0,
                    100,
                    0,
                    100,
                    1,
                    10,
                    5,
                    some,
                    some,
                    60,
                    20,
                    new CpuMicrosPerTask(1, 2, 3, 4, 5),
                    new Failover(1, 2, 3, List.of(1.0), 0, some, some, 200, 100),
                    new Steady(3600, 2, 0, 1, 100, 200, 100),
                    null));

    assertTrue(
        json.properties().stream()
            .map(Map.Entry::getKey)
            .toList()
            .containsAll(
                List.of(
                    "runsPerSecond",
                    "tasksPerSecond",
                    "coldTasksPerSecond",
                    "runLatencyMs",
                    "hopLatencyMs",
                    "journalBytesPerTask",
                    "cpuMicrosPerTask",
                    "failoverMs",
                    "steady")),
        json.toString());
    assertEquals(2, json.at("/runLatencyMs/p50").asInt());
    assertEquals(3, json.at("/failoverMs/max").asInt());
    assertEquals(2, json.at("/steady/busyLoops").asInt());
    assertEquals(1, json.at("/steady/wrongGuesses").asInt());
    assertEquals(4, json.at("/cpuMicrosPerTask/worker").asInt());
  }

  @Test
  void shouldReadTheIdOfARunFromItsBits() {
    assertEquals("00000000000000000000000000", Ulid.text(0, 0));
    assertEquals("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", Ulid.text(-1, -1));
    // The example of the ULID specification.
    assertEquals("01ARZ3NDEKTSV4RRFFQ69G5FAV", Ulid.text(0x01563e3ab5d3d676L, 0x4c61efb99302bd5bL));
  }

  private static Workflow read(String definition) {
    return switch (new WorkflowReader().read(definition)) {
      case Judged.Accepted<Workflow>(Workflow workflow) -> workflow;
      case Judged.Refused<Workflow> refused -> throw new AssertionError(refused.report());
    };
  }
}
