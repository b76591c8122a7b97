package dev.baton.workflow;

import static dev.baton.workflow.Definitions.accepted;
import static dev.baton.workflow.Definitions.refused;
import static dev.baton.workflow.Definitions.report;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WorkflowReaderTest {
  private static final String WHOLE_YAML =
      """
      # every field
      name: nightly.build-1
      version: 1.10
      params:
        region:
        limit: 10
        tags: [a, b]
      defaults:
        timeout: 90s
        priority: 3
        retry: {attempts: 3, delay: 500ms}
      onFailure: cancel
      timeout: 2h
      tasks:
        - id: fetch
          type: shell
          params:
            command: curl "$URL"
            env: {URL: "http://x/${{ params.region }}"}
        - id: build-it
          type: echo
          dependsOn: [fetch]
          timeout: 1d
          priority: 10
          retry: {delay: 2m, finalOn: [timeout], maxLosses: 0}
          params: {deep: [{a: "${{ tasks.fetch.output.stdout }}"}], n: 1.50, none: null, yes: true}
      """;

  private static final String WHOLE_JSON =
      """
      {"name": "nightly.build-1", "version": "1.10",
       "params": {"region": null, "limit": 10, "tags": ["a", "b"]},
       "defaults": {"timeout": "90s", "priority": 3, "retry": {"attempts": 3, "delay": "500ms"}},
       "onFailure": "cancel", "timeout": "2h",
       "tasks": [
         {"id": "fetch", "type": "shell", "params": {"command": "curl \\"$URL\\"",
            "env": {"URL": "http://x/${{ params.region }}"}}},
         {"id": "build-it", "type": "echo", "dependsOn": ["fetch"], "timeout": "1d",
          "priority": 10, "retry": {"delay": "2m", "finalOn": ["timeout"], "maxLosses": 0},
          "params": {"deep": [{"a": "${{ tasks.fetch.output.stdout }}"}], "n": 1.50, "none": null,
            "yes": true}}]}
      """;

  @Test
  void shouldReadEveryField() {
    Workflow workflow = accepted(WHOLE_YAML);

    assertEquals("nightly.build-1", workflow.name());
    assertEquals("1.10", workflow.version());
    assertEquals(
        Map.of(
            "region", new Parameter("region", null),
            "limit", new Parameter("limit", "10"),
            "tags", new Parameter("tags", "[\"a\",\"b\"]")),
        workflow.params());
    assertEquals(OnFailure.CANCEL, workflow.onFailure());
    assertEquals(Duration.ofHours(2), workflow.timeout());
    TaskSpec fetch = workflow.task(0);
    assertEquals(
        new RetryPolicy(3, Duration.ofMillis(500), Duration.ofMinutes(1), Set.of(), 5),
        fetch.retry());
    assertEquals(Duration.ofSeconds(90), fetch.timeout());
    assertEquals(3, fetch.priority());
    TaskSpec build = workflow.task(1);
    assertEquals("build-it", build.id());
    assertEquals(List.of(0), build.dependsOn());
    assertEquals(
        new RetryPolicy(
            3,
            Duration.ofMinutes(2),
            Duration.ofMinutes(2),
            Set.of(RetryPolicy.Failure.TIMEOUT),
            0),
        build.retry());
    assertEquals(
        new Template("[{\"a\":\"${{ tasks.fetch.output.stdout }}\"}]"), build.params().get("deep"));
    assertEquals(new Template("1.50"), build.params().get("n"));
  }

  @Test
  void shouldReadTheSameFromYamlAndJson() {
    assertEquals(accepted(WHOLE_YAML), accepted(WHOLE_JSON));
    assertEquals(accepted(WHOLE_YAML), accepted("\uFEFF\n  " + WHOLE_JSON));
  }

  @Test
  void shouldHaveDefaults() {
    Workflow workflow = accepted("name: x\ntasks: [{id: a, type: echo}]");

    assertEquals("", workflow.version());
    assertEquals(OnFailure.FINISH, workflow.onFailure());
    assertEquals(Duration.ZERO, workflow.timeout());
    assertEquals(
        new TaskSpec(0, "a", "echo", List.of(), Map.of(), Duration.ZERO, RetryPolicy.DEFAULT, 5),
        workflow.task(0));
    assertEquals(Map.of(), workflow.task(0).constants().orElseThrow());
  }

  @Test
  void shouldReadWhatOlderYamlWouldTwistAsText() {
    Workflow workflow =
        accepted(
            """
            name: no
            version: 1.0
            tasks:
            - {id: on, type: off, params: {mode: 0644, time: 12:30, day: 2024-01-01, no: no, n: 1_0}}
            - {id: 0123, type: true, dependsOn: [on]}
            """);

    assertEquals("no", workflow.name());
    assertEquals("1.0", workflow.version());
    assertEquals("on", workflow.task(0).id());
    assertEquals("0123", workflow.task(1).id());
    assertEquals("true", workflow.task(1).type());
    assertEquals(
        Map.of(
            "mode", "\"0644\"",
            "time", "\"12:30\"",
            "day", "\"2024-01-01\"",
            "no", "\"no\"",
            "n", "\"1_0\""),
        workflow.task(0).constants().orElseThrow());
  }

  @Test
  void shouldGiveConstantsWithoutWorkPerCall() {
    Workflow workflow = accepted(WHOLE_YAML.replace("${{ params.region }}", "eu"));

    assertSame(
        workflow.task(0).constants().orElseThrow(), workflow.task(0).constants().orElseThrow());
    assertTrue(workflow.task(1).constants().isEmpty());
  }

  @Test
  void shouldReportAllProblemsSortedByPlace() {
    Judged.Refused<Workflow> refused =
        refused(
            """
            name: a b
            naem: x
            tasks:
            - {id: a, type: t, priority: 11, dependsOn: [b]}
            - {id: a, type: t, params: {p: "${{ params.q }}"}}
            """);

    assertEquals(
        List.of(
            "name",
            "naem",
            "tasks[0].priority",
            "tasks[0].dependsOn[0]",
            "tasks[1].id",
            "tasks[1].params.p"),
        refused.problems().stream().map(Problem::place).toList());
    assertEquals(
        List.of(1, 2, 4, 4, 5, 5), refused.problems().stream().map(Problem::line).toList());
  }

  @Test
  void shouldReportTwentyAndCountTheRest() {
    Judged.Refused<Workflow> refused = refused("name: x\ntasks: [" + "{},".repeat(50) + "{}]");

    assertEquals(Limits.PROBLEMS, refused.problems().size());
    assertEquals(102, refused.total());
    assertTrue(refused.report().endsWith("(and 82 more)"));
  }

  /** A definition, and what its report must hold, word for word. */
  record Bad(String text, List<String> sentences) {
    Bad(String text, String... sentences) {
      this(text, List.of(sentences));
    }
  }

  static List<Bad> shape() {
    return List.of(
        new Bad("", "the definition is empty; write at least name and tasks"),
        new Bad(" \n# nothing\n", "the definition is empty"),
        new Bad("just text", "expected an object, but found text 'just text'; it has the fields"),
        new Bad("{", "line 1, column 2: the JSON is malformed: "),
        new Bad("{\"name\": \"x\",}", "line 1, column 14: the JSON is malformed: "),
        new Bad("{} {}", "line 1, column 4: there is more text after the JSON value; remove it"),
        new Bad("{\"a\":1,\"a\":2}", "line 1, column 8: the field 'a' stands here twice"),
        new Bad("name: x\nname: y", "line 2, column 1: the field 'name' stands here twice"),
        new Bad(
            "name: x\ntasks:\n  - id: a\n   type: b",
            "tasks[1] (line 4, column 4): the YAML is malformed: expected <block end>"),
        new Bad("a: 'open", "a (line 1, column 9): the YAML is malformed: "),
        new Bad("\ta: b", "line 1, column 1: the YAML is malformed: found character '\\t(TAB)'"),
        new Bad("name: \u0001", "column 7: the character U+0001 can't stand in YAML; remove it"),
        new Bad("name: x\n---\nname: y", "line 2, column 1: a second YAML document begins here"),
        new Bad("name: &a x", "name (line 1, column 7): anchors (&a) are not read; write the"),
        new Bad("name: *a", "aliases (*a) are not read; write the value out"),
        new Bad("name: !!java.net.URL x", "tags (tag:yaml.org,2002:java.net.URL) are not read"),
        new Bad("? [a]\n: b", "a name of a field must be text; quote it"),
        new Bad("name: \"\\ud800\"", "the text holds half of a surrogate pair"),
        new Bad("[".repeat(65), "lists and objects stand more than 64 deep inside each other"),
        new Bad("{\"a\":".repeat(65), "more than 64 deep inside each other; flatten them"),
        new Bad("- ".repeat(65), "more than 64 deep inside each other; flatten them"),
        new Bad("x: " + "1".repeat(1_001), "the number has more than 1000 characters"));
  }

  static List<Bad> fields() {
    return List.of(
        new Bad("name: x", "tasks (line 1, column 1): a workflow needs at least one task"),
        new Bad("name: x\ntasks:", "a workflow needs at least one task"),
        new Bad("name: x\ntasks: []", "tasks (line 2, column 8): a workflow needs at least one"),
        new Bad("name: x\ntasks: {a: b}", "expected a list of tasks, but found an object"),
        new Bad("tasks: [{id: a, type: t}]", "name (line 1, column 1): the field name is missing"),
        new Bad("name: [a]", "name (line 1, column 7): expected text, but found a list; use 1 to"),
        new Bad("name: " + "x".repeat(129), "is not allowed; use 1 to 128 letters, digits, and"),
        new Bad("version: '" + "x".repeat(65) + "'", "use 1 to 64 characters"),
        new Bad("timeot: 1s", "there is no field 'timeot' here; did you mean 'timeout'?"),
        new Bad("zzz: 1s", "there is no field 'zzz' here; it has the fields name, version"),
        new Bad("timeout: 5 minutes", "'5 minutes' is not a duration; write a whole number and"),
        new Bad("timeout: 5", "'5' is not a duration"),
        new Bad("timeout: PT5M", "'PT5M' is not a duration"),
        new Bad("timeout: 31d", "31d is longer than the limit of 30d; shorten it"),
        new Bad("timeout: 9999999999d", "9999999999d is longer than the limit of 30d"),
        new Bad("timeout: ${{ params.t }}", "(expressions are evaluated only in the params of"),
        new Bad("onFailure: stop", "expected finish or cancel, but found text 'stop'"),
        new Bad("defaults: {id: x}", "defaults.id (line 1, column 12): there is no field 'id'"),
        new Bad("params: [a]", "params (line 1, column 9): expected an object, but found a list"),
        new Bad("params: {a-b: 1}", "'a-b' is not allowed as a name; names are a letter or _"),
        new Bad("params: {a: {required: true}}", "is written a: and nothing after it"),
        new Bad("params: {a: '${{ params.b }}'}", "a default is not evaluated"));
  }

  static List<Bad> tasks() {
    return List.of(
        new Bad("[]", "expected an object, but found a list; it has the fields id, type"),
        new Bad("5", "tasks[0] (line 3, column 3): expected an object, but found number 5"),
        new Bad("", "the task is empty; give it id and type, or remove it"),
        new Bad("{type: t}", "tasks[0].id (line 3, column 3): the field id is missing; give it"),
        new Bad("{id: a}", "tasks[0].type (line 3, column 3): the field type is missing"),
        new Bad("{id: a b, type: t}", "'a b' is not allowed; use 1 to 64 letters, digits, and _ -"),
        new Bad("{id: a.b, type: t}", "'a.b' is not allowed"),
        new Bad("{id: a, type: t, dependson: []}", "did you mean 'dependsOn'?"),
        new Bad("{id: a, type: t, dependsOn: b}", "expected a list of ids, but found text 'b'"),
        new Bad("{id: a, type: t, dependsOn: [[b]]}", "expected the id of a task, but found a"),
        new Bad("{id: a, type: t, dependsOn: [a]}", "the task 'a' depends on itself; remove"),
        new Bad("{id: a, type: t, priority: 0}", "0 is not allowed; write a whole number from 1"),
        new Bad("{id: a, type: t, priority: high}", "expected a number, but found text 'high'"),
        new Bad("{id: a, type: t, priority: 1.5}", "1.5 is not allowed; write a whole number"),
        new Bad("{id: a, type: t, retry: 3}", "expected an object, but found number 3"),
        new Bad("{id: a, type: t, retry: {attempts: 101}}", "whole number from 1 to 100"),
        new Bad("{id: a, type: t, retry: {maxLosses: -1}}", "whole number from 0 to 100"),
        new Bad("{id: a, type: t, retry: {delay: 2m, maxDelay: 1m}}", "1m is shorter than the"),
        new Bad("{id: a, type: t, retry: {finalOn: error}}", "expected a list of error or timeout"),
        new Bad("{id: a, type: t, retry: {finalOn: [lost]}}", "expected error or timeout, but"),
        new Bad("{id: a, type: t, params: 5}", "expected an object, but found number 5"),
        new Bad("{id: a, type: t, params: {1a: 5}}", "'1a' is not allowed as a name"),
        new Bad(
            "{id: a, type: t}\n- {id: a, type: t}",
            "tasks[1].id (line 4, column 3): the id 'a' is taken by tasks[0] (line 3)"),
        new Bad(
            "{id: fetch, type: t}\n- {id: b, type: t, dependsOn: [fetsh, fetch, fetch]}",
            "tasks[1].dependsOn[0] (line 4, column 32): there is no task 'fetsh'; did you mean"
                + " 'fetch'?",
            "'fetch' is named twice; name it once"),
        new Bad(
            "{id: a, type: t, dependsOn: [c]}\n- {id: b, type: t, dependsOn: [a]}\n"
                + "- {id: c, type: t, dependsOn: [b]}\n- {id: d, type: t, dependsOn: [c]}",
            "tasks depend on each other in a circle, each on the next: a -> c -> b -> a"),
        new Bad(
            "{id: a, type: shell, params: {command: 'ls ${{ 1 }}'}}",
            "an expression in a shell command would run whatever its value says; put it into env"),
        new Bad(
            "{id: a, type: shell, params: {command: ['ls ${{ 1 }}'], allowTemplate: yes}}",
            "or set allowTemplate: true"));
  }

  @ParameterizedTest
  @MethodSource({"shape", "fields"})
  void shouldRefuseADefinition(Bad bad) {
    assertReports(bad, bad.text());
  }

  @ParameterizedTest
  @MethodSource("tasks")
  void shouldRefuseATask(Bad bad) {
    assertReports(bad, "name: x\ntasks:\n- " + bad.text());
  }

  private static void assertReports(Bad bad, String text) {
    String report = report(text);
    for (String sentence : bad.sentences()) {
      assertTrue(report.contains(sentence), () -> "Expected " + sentence + " in\n" + report);
    }
  }

  @Test
  void shouldAllowAShellCommandToHoldWhatIsNotEvaluated() {
    accepted("name: x\ntasks: [{id: a, type: shell, params: {command: 'ls $${{ 1 }}'}}]");
    accepted(
        "name: x\ntasks: [{id: a, type: shell, params: {command: '${{ 1 }}', allowTemplate: true}}]");
    accepted("name: x\ntasks: [{id: a, type: shell, params: {command: ls, args: ['${{ 1 }}']}}]");
  }
}
