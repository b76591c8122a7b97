package dev.baton.workflow;

import static dev.baton.workflow.Definitions.RESOLVER;
import static dev.baton.workflow.Definitions.accepted;
import static dev.baton.workflow.Definitions.chain;
import static dev.baton.workflow.Definitions.report;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Definitions as large as they may be; the time limits leave room for a busy machine. */
@Timeout(30)
class LargeWorkflowTest {
  private static final int TASKS = Limits.TASKS;

  @Test
  void shouldReadALongChain() {
    Workflow workflow = accepted(chain(TASKS, ", params: {v: '${{ tasks.@.output }}'}"));

    assertEquals(List.of(TASKS - 2), workflow.task(TASKS - 1).dependsOn());
    assertEquals(List.of(1), workflow.dependants(0));
  }

  @Test
  void shouldShowALongCycleInShort() {
    String text =
        chain(TASKS, "").replace("{id: t0, type: e}", "{id: t0, type: e, dependsOn: [t9999]}");

    String report = report(text);

    assertTrue(report.contains("each on the next: t0 -> t9999 -> t9998 -> "), report);
    assertTrue(report.contains(" -> t9981 -> (9,979 more) -> t1 -> t0"), report);
  }

  @Test
  void shouldReadDistinctCalculationsInSeconds() {
    String text = chain(TASKS, ", params: {v: '${{ tasks.@.output.n + # + params.p }}'}");
    long start = System.nanoTime();

    accepted(text);

    // Some 0.4 s on an idle machine.
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(taken.compareTo(Duration.ofSeconds(15)) < 0, taken::toString);
  }

  @Test
  void shouldKnowDistantDependencies() throws ExpressionException {
    Workflow workflow = accepted(chain(TASKS, ", params: {v: '${{ tasks.t0.output.n# }}'}"));

    assertEquals(java.util.Set.of(0), RESOLVER.outputsNeeded(workflow, workflow.task(TASKS - 1)));
    String report = report(chain(TASKS, ", params: {v: '${{ tasks.t9999.output }}'}"));
    assertTrue(report.startsWith("tasks[1].params.v (line 5, column "), report);
    assertTrue(report.contains("'t1' doesn't depend on 't9999', so its output"), report);
    assertTrue(report.endsWith("(and 9979 more)"), report);
  }

  @Test
  void shouldGatherFromThousands() throws ExpressionException {
    int width = 8_000;
    StringBuilder text = new StringBuilder("name: wide\ntasks:\n- {id: s, type: e}\n");
    StringBuilder ids = new StringBuilder();
    StringBuilder values = new StringBuilder();
    for (int i = 0; i < width; i++) {
      text.append("- {id: t").append(i).append(", type: e, dependsOn: [s]}\n");
      ids.append(i == 0 ? "" : ",").append('t').append(i);
      values.append(i == 0 ? "" : ",").append("'${{ tasks.t").append(i).append(".output.n }}'");
    }
    text.append("- {id: z, type: e, dependsOn: [").append(ids);
    text.append("], params: {all: [").append(values).append("]}}\n");

    Workflow workflow = accepted(text.toString());
    TaskSpec last = workflow.task(width + 1);
    Map<String, String> inputs =
        RESOLVER.resolve(workflow, last, "{}", task -> "{\"n\":" + task + "}");

    assertEquals(width, RESOLVER.outputsNeeded(workflow, last).size());
    assertTrue(inputs.getOrDefault("all", "").startsWith("[1,2,3,"));
  }
}
