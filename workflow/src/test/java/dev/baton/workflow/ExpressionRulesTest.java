package dev.baton.workflow;

import static dev.baton.workflow.Definitions.accepted;
import static dev.baton.workflow.Definitions.report;
import static dev.baton.workflow.Definitions.withExpression;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpressionRulesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "${{ params.zz }} ~ the workflow has no parameter 'zz'; declare it under params",
        "${{ params.lst }} ~ the workflow has no parameter 'lst'; did you mean 'list'?",
        "${{ [1].map(x, params.zz) }} ~ the workflow has no parameter 'zz'",
        "${{ tasks.frist.output }} ~ there is no task 'frist' in the workflow; did you mean 'first'?",
        "${{ tasks.other.output }} ~ the task 'x' doesn't depend on 'other', so its output may not"
            + " be there; add it to dependsOn, or name one of first, a-b",
        "${{ tasks.x.output }} ~ the task 'x' doesn't depend on 'x'",
        "${{ tasks.first }} ~ a task has nothing but its output here; write tasks.first.output",
        "${{ tasks.first.outputs.x }} ~ write tasks.first.output, and a field behind it",
        "${{ tasks.a-b.output }} ~ write tasks.a.output",
        "${{ tasks['a-b'] }} ~ write tasks[\"a-b\"].output",
        "${{ tasks }} ~ tasks is not a value; name a task: tasks.ID.output",
        "${{ params }} ~ params is not a value; name one of its members: params.NAME",
        "${{ tasks[params.text].output }} ~ tasks[…] takes a quoted name, known before the run",
        "${{ params[params.text] }} ~ params[…] takes a quoted name, known before the run",
        "${{ tasks.map(t, t) }} ~ tasks is not a value",
        "${{ has(tasks.first) }} ~ a task has nothing but its output here",
        "${{ [1].map(tasks, tasks) }} ~ the variable of a macro may not be called tasks",
        "${{ parms.n }} ~ there is no variable 'parms'; write params.NAME, tasks.ID.output, or quote",
        "${{ [1].map(x, y) }} ~ there is no variable 'y'",
        "${{ sise('a') }} ~ there is no function 'sise' that takes this; did you mean 'size'?",
        "${{ now() }} ~ there is no function 'now'",
        "${{ getClass().forName('java.lang.Runtime') }} ~ there is no function",
        "${{ google.protobuf.Value{} }} ~ there is no type 'google.protobuf.Value'",
        "${{ 1 + 'a' }} ~ can't apply + to (int, string); convert one with string(), int() or",
        "${{ size(1) }} ~ can't apply size() to (int)",
        "${{ params. }} ~ it is no CEL expression: it makes no sense from '.' at character 8",
        "${{ params.in }} ~ it is no CEL expression",
        "${{ (1 }} ~ it is no CEL expression",
        "${{ 'a }} ~ is not closed; end it with }}, or write $${{ for the text ${{",
        "${{ params.n ~ '${{ params.n' is not closed",
        "${{ }} ~ ${{ }}: there is nothing between ${{ and }}",
        "${{ 99999999999999999999 }} ~ it is no CEL expression",
      })
  void shouldRefuse(String template, String sentence) {
    String report = report(withExpression(template));

    assertTrue(report.startsWith("tasks[3].params.value (line 17, column 19): "), report);
    assertTrue(report.contains(sentence), () -> "Expected " + sentence + " in " + report);
  }

  @Test
  void shouldJudgeEveryPlaceOfAValue() {
    String report =
        report(
            """
            name: x
            tasks:
            - id: a
              type: t
              params:
                deep: [{k: "${{ nope }}", l: [1, "a${{ nope }}${{ params.p }}"]}]
                other: {"${{ 1 }}": 1}
            """);

    assertTrue(
        report.contains("tasks[0].params.deep[0].k (line 6, column 16): ${{ nope }}"), report);
    assertTrue(report.contains("tasks[0].params.deep[0].l[1] (line 6, column 38): "), report);
    assertTrue(report.contains("names are not evaluated, only values"), report);
    assertTrue(report.contains("the workflow has no parameter 'p'"), report);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "${{ [1].map(x, [2].map(y, x + y)) }}",
        "${{ has(params.object.a) && has(params.n) }}",
        "${{ tasks.first.output == null ? 'x' : tasks['a-b'].output.size() > 1 ? 'y' : 'z' }}",
        "${{ 'tasks.other.output' }}",
        "${{ {'tasks': 1}['tasks'] }}",
        "${{ params.object.tasks.params }}",
      })
  void shouldAccept(String template) {
    accepted(withExpression(template));
  }
}
