package dev.baton.workflow;

import static dev.baton.workflow.Definitions.READER;
import static dev.baton.workflow.Definitions.RESOLVER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Damaged definitions: each is read to a workflow or to problems, and nothing is ever thrown. */
class MutationTest {
  private static final String YAML =
      """
      name: pipeline
      version: "1.2"
      params: {region: eu, limit: 10, need: }
      defaults:
        timeout: 90s
        retry: {attempts: 3, delay: 500ms, maxDelay: 10s, finalOn: [error, timeout]}
      onFailure: cancel
      tasks:
        - id: a
          type: echo
          params: {x: "${{ params.region }}-$${{", y: [1, 2.5, null, {k: "${{ params.limit + 1 }}"}]}
        - id: b-1
          type: shell
          dependsOn: [a]
          params:
            command: |
              echo "$X"
            env: {X: '${{ tasks.a.output.y[0] }}'}
        - {id: c, type: t, dependsOn: [a, b-1], priority: 9, timeout: 1h}
      """;

  private static final List<String> SPLINTERS =
      List.of(
          "",
          " ",
          "\n",
          "\n  ",
          ":",
          ": ",
          "- ",
          "[",
          "]",
          "{",
          "}",
          "'",
          "\"",
          "|",
          ">",
          "#",
          "&a ",
          "*a",
          "!!x ",
          "%",
          "@",
          "`",
          "\t",
          "\\",
          "\\u0000",
          "\u0000",
          "\u0085",
          "\ud800",
          "\ud83d\ude00",
          "${{",
          "}}",
          "$${{",
          "?",
          "---\n",
          "...\n",
          "null",
          "~",
          "0",
          "-1",
          "1e999999999",
          ".inf",
          "true",
          "tasks",
          "id",
          "<<: ",
          ",",
          "\ufeff",
          "\r");

  static Stream<Long> seeds() {
    return Stream.iterate(1L, seed -> seed + 1).limit(60);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void shouldOnlyReportProblems(long seed) {
    Random random = new Random(seed);
    String json = Canonical.of(Definitions.accepted(YAML)).text();
    for (int round = 0; round < 25; round++) {
      String text = damage(random.nextBoolean() ? YAML : json, random);
      try {
        judge(text);
      } catch (RuntimeException | StackOverflowError thrown) {
        throw new AssertionError("seed " + seed + ", round " + round + ":\n" + text, thrown);
      }
    }
  }

  private static String damage(String text, Random random) {
    StringBuilder damaged = new StringBuilder(text);
    for (int cuts = random.nextInt(4); cuts >= 0; cuts--) {
      int at = random.nextInt(damaged.length());
      int end = Math.min(damaged.length(), at + random.nextInt(random.nextInt(10) == 0 ? 60 : 3));
      switch (random.nextInt(3)) {
        case 0 -> damaged.delete(at, end);
        case 1 -> damaged.insert(at, SPLINTERS.get(random.nextInt(SPLINTERS.size())));
        default -> damaged.insert(random.nextInt(damaged.length()), damaged.substring(at, end));
      }
    }
    return damaged.toString();
  }

  private static void judge(String text) {
    switch (READER.read(text)) {
      case Judged.Refused<Workflow> refused -> {
        assertFalse(refused.problems().isEmpty());
        refused.problems().forEach(problem -> assertFalse(problem.message().isBlank()));
      }
      case Judged.Accepted<Workflow>(Workflow workflow) -> {
        Canonical canonical = Canonical.of(workflow);
        assertEquals(workflow, Canonical.decompress(canonical.compressed()).workflow());
        assertEquals(canonical, Canonical.of(Definitions.accepted(canonical.text())));
        evaluate(workflow);
      }
    }
  }

  private static void evaluate(Workflow workflow) {
    if (workflow.bind(Map.of("need", "1")) instanceof Judged.Accepted<String>(String params)) {
      for (TaskSpec task : workflow.tasks()) {
        try {
          RESOLVER.outputsNeeded(workflow, task);
          RESOLVER.resolve(workflow, task, params, index -> "{\"y\":[1]}");
        } catch (ExpressionException expected) {
          assertFalse(expected.getMessage().isBlank());
        }
      }
    }
  }
}
