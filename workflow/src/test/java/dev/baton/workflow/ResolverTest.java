package dev.baton.workflow;

import static dev.baton.workflow.Definitions.RESOLVER;
import static dev.baton.workflow.Definitions.accepted;
import static dev.baton.workflow.Definitions.resolve;
import static dev.baton.workflow.Definitions.withExpression;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResolverTest {
  private static final Map<String, String> GIVEN = Map.of("given", "null");
  private static final String OUTPUT =
      "{\"x\":1,\"y\":2.50,\"s\":\"a\\\"b\",\"l\":[{\"k\":true},null],\"odd name\":7}";

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        // Paths keep the value as it stands.
        "plain ~ \"plain\"",
        "${{ params.n }} ~ 5",
        "${{params.n}} ~ 5",
        "${{ params.d }} ~ 2.5",
        "${{ params.big }} ~ 12345678901234567890.10",
        "${{ params.object }} ~ {\"a\":{\"b\":[true,null]}}",
        "${{ params.object.a['b'][1] }} ~ null",
        "${{ params[\"list\"][2] }} ~ 3",
        "${{ params.given }} ~ null",
        "${{ tasks['a-b'].output.y }} ~ 2.50",
        "${{ tasks['a-b']['output'][\"odd name\"] }} ~ 7",
        "${{ tasks.first.output.l }} ~ [{\"k\":true},null]",
        // Text around expressions.
        "a ${{ params.n }} b ${{ params.text }} ~ \"a 5 b it's\"",
        "<${{ params.given }}${{ params.object }}> ~ \"<null{\\\"a\\\":{\\\"b\\\":[true,null]}}>\"",
        "\"${{ tasks.first.output.s }}\" ~ \"\\\"a\\\"b\\\"\"",
        "$${{ params.n }} ~ \"${{ params.n }}\"",
        "$${{ ${{ params.n }} $$ $ {{ }} ~ \"${{ 5 $$ $ {{ }}\"",
        // Calculations.
        "${{ params.n + 1 }} ~ 6",
        "${{ params.d * 2.0 }} ~ 5",
        "${{ double(params.n) / 2.0 }} ~ 2.5",
        "${{ 1e300 }} ~ 1.0E300",
        "${{ -0.0 }} ~ 0",
        "${{ 7u }} ~ 7",
        "${{ params.n > 2.5 && params.n == 5.0 }} ~ true",
        "${{ params.text + '}}' }} ~ \"it's}}\"",
        "${{ {'a': {'b': params.list}} }} ~ {\"a\":{\"b\":[1,2,3]}}",
        "${{ {1: 'a', true: null} }} ~ {\"1\":\"a\",\"true\":null}",
        "${{ params.list.map(x, x * x) }} ~ [1,4,9]",
        "${{ params.list.filter(x, x != 2) }} ~ [1,3]",
        "${{ has(tasks.first.output.zz) ? dyn(1) : 'none' }} ~ \"none\"",
        "${{ size(tasks.first.output.l) }} ~ 2",
        "${{ tasks.first.output.l[0].k ? 'yes' : 'no' }} ~ \"yes\"",
        "${{ params.text.startsWith('it') }} ~ true",
        "${{ string(timestamp('2024-01-01T00:00:00Z')) }} ~ \"2024-01-01T00:00:00Z\"",
        "${{ [] }} ~ []",
        "${{ {} }} ~ {}",
        "${{ null }} ~ null",
      })
  void shouldEvaluate(String template, String json) throws ExpressionException {
    assertEquals(json, resolve(template, GIVEN, OUTPUT));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "${{ tasks.first.output.zzz }} ~ tasks.first.output.zzz: no such field; there are x, y, s,",
        "${{ params.object.a.bb }} ~ params.object.a.bb: no such field; did you mean 'b'?",
        "${{ tasks['a-b'].output.x.z }} ~ tasks[\"a-b\"].output.x is number 1, so it has no field z",
        "${{ params.list[3] }} ~ params.list[3]: no such item; the list has 3",
        "${{ params.list[-1] }} ~ params.list[-1]: no such item; the list has 3",
        "${{ params.n[0] }} ~ params.n is number 5, so it has no item 0",
        "${{ tasks.first.output.zz + 1 }} ~ no such field 'zz' at character 19",
        "${{ params.n.zz + 1 }} ~ there is no object to take 'zz' from at character 9",
        "${{ params.list[9] + 1 }} ~ Index out of bounds: 9",
        "${{ params.n * 2.0 }} ~ can't apply * to values of these types; convert one with string()",
        "${{ params.n / 0 }} ~ division by zero",
        "${{ 9223372036854775807 + params.n }} ~ long overflow",
        "${{ 1.0 / 0.0 }} ~ the result is Infinity, which is no number in JSON",
        "${{ timestamp('2024-01-01T00:00:00Z') }} ~ the result is a timestamp, which JSON can't say",
        "${{ b'x' }} ~ the result is a sequence of bytes, which JSON can't say",
        "${{ {1: 1, '1': 2} }} ~ two keys of the result are '1' in JSON",
        "${{ int(params.text) }} ~ param value of task x: ${{ int(params.text) }}: ",
      })
  void shouldSayWhyNot(String template, String sentence) {
    ExpressionException failure =
        assertThrows(ExpressionException.class, () -> resolve(template, GIVEN, OUTPUT));

    assertTrue(failure.getMessage().startsWith("param value of task x: "), failure::getMessage);
    assertTrue(failure.getMessage().contains(sentence), failure::getMessage);
  }

  @Test
  void shouldHandOnConstantsWithoutAsking() throws ExpressionException {
    Workflow workflow = accepted(withExpression("plain"));
    TaskSpec task = workflow.task(3);

    assertSame(
        task.constants().orElseThrow(),
        RESOLVER.resolve(
            workflow,
            task,
            "not read",
            index -> {
              throw new IllegalStateException("asked for " + index);
            }));
    assertEquals(Set.of(), RESOLVER.outputsNeeded(workflow, task));
  }

  @Test
  void shouldAskOnlyForOutputsThatAreNamed() throws ExpressionException {
    Workflow workflow =
        accepted(withExpression("${{ tasks.first.output.x }} ${{ tasks.first.output.y + 1.0 }}"));
    List<Integer> asked = new ArrayList<>();

    String value =
        resolve(
            workflow,
            GIVEN,
            index -> {
              asked.add(index);
              return OUTPUT;
            });

    assertEquals("\"1 3.5\"", value);
    assertEquals(List.of(0), asked);
    assertEquals(Set.of(0), RESOLVER.outputsNeeded(workflow, workflow.task(3)));
  }

  @Test
  void shouldNeverEvaluateAResult() throws ExpressionException {
    assertEquals(
        "\"${{ params.n }} ${{ params.n }}\"",
        resolve(
            "${{ params.given }} ${{ tasks.first.output }}",
            Map.of("given", "\"${{ params.n }}\""),
            "\"${{ params.n }}\""));
  }

  @Test
  void shouldTakeNoOutputAsNull() throws ExpressionException {
    assertEquals("null", resolve("${{ tasks.first.output }}", GIVEN, ""));
  }

  @Test
  void shouldLetThrowWhoReadsOutputs() {
    Workflow workflow = accepted(withExpression("${{ tasks.first.output + 1 }}"));

    assertThrows(
        IllegalStateException.class,
        () ->
            resolve(
                workflow,
                GIVEN,
                index -> {
                  throw new IllegalStateException("etcd is away");
                }));
  }

  @Test
  void shouldRefuseAnOutputThatIsNoJson() {
    ExpressionException failure =
        assertThrows(
            ExpressionException.class,
            () -> resolve("${{ tasks.first.output }}", GIVEN, "[".repeat(2_000)));

    assertTrue(
        failure.getMessage().contains("the output of task first is not JSON: line 1, column 1001"),
        failure::getMessage);
  }

  @Test
  void shouldServeManyThreads() throws Exception {
    Workflow workflow =
        accepted(withExpression("${{ tasks.first.output.x + params.n }} ${{ params.list[1] }}"));
    Resolver resolver = new Resolver();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Callable<Map<String, String>>> calls =
          Collections.nCopies(
              200,
              () ->
                  resolver.resolve(
                      workflow, workflow.task(3), "{\"n\":5,\"list\":[1,2]}", i -> OUTPUT));
      for (Future<Map<String, String>> outcome : threads.invokeAll(calls)) {
        assertEquals(Map.of("value", "\"6 2\""), outcome.get());
      }
    }
  }

  @Test
  void shouldLimitInputsTogether() {
    String output = "\"" + "x".repeat(200 << 10) + "\"";

    ExpressionException failure =
        assertThrows(
            ExpressionException.class,
            () -> resolve("${{ tasks.first.output }}".repeat(3), GIVEN, output));

    assertTrue(
        failure.getMessage().contains("limit of 496 KiB for the inputs of an attempt"),
        failure::getMessage);
    assertTrue(
        assertThrows(
                ExpressionException.class,
                () ->
                    resolve(
                        "${{ tasks.first.output }}", GIVEN, "\"" + "x".repeat(256 << 10) + "\""))
            .getMessage()
            .contains("the result is larger than the limit of 256 KiB; take a part of it"));
  }

  @Test
  void shouldLimitWhatIsRead() {
    String template = "${{ tasks.first.output[0] }}${{ tasks['a-b'].output[0] }}".repeat(30);
    String output = "[1" + " ".repeat(600 << 10) + "]";

    ExpressionException failure =
        assertThrows(ExpressionException.class, () -> resolve(template, GIVEN, output));

    assertTrue(
        failure.getMessage().contains("read outputs of more than 32 MiB together; read fewer"),
        failure::getMessage);
  }
}
