package dev.baton.workflow;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.Map;
import java.util.function.Function;

/** Short ways to read definitions and run their expressions in tests. */
final class Definitions {
  static final Resolver RESOLVER = new Resolver();
  static final WorkflowReader READER = new WorkflowReader(RESOLVER);

  private Definitions() {}

  static Workflow accepted(String text) {
    return accepted(READER.read(text));
  }

  static <T> T accepted(Judged<T> judged) {
    return switch (judged) {
      case Judged.Accepted<T>(T value) -> value;
      case Judged.Refused<T> refused -> fail(refused.report());
    };
  }

  static Judged.Refused<Workflow> refused(String text) {
    return switch (READER.read(text)) {
      case Judged.Accepted<Workflow>(Workflow workflow) -> fail("accepted: " + workflow);
      case Judged.Refused<Workflow> refused -> refused;
    };
  }

  static String report(String text) {
    return refused(text).report();
  }

  /** A workflow whose task {@code x} depends on {@code a-b}, which depends on {@code first}. */
  static String withExpression(String template) {
    StringBuilder quoted = new StringBuilder();
    JsonText.quote(template, quoted);
    return """
    name: test
    params:
      n: 5
      d: 2.5
      text: 'it''s'
      list: [1, 2, 3]
      big: 12345678901234567890.10
      object: {a: {b: [true, null]}}
      given:
    tasks:
    - {id: first, type: echo}
    - {id: a-b, type: echo, dependsOn: [first]}
    - {id: other, type: echo}
    - id: x
      type: echo
      dependsOn: [a-b]
      params: {value: %s}
    """
        .formatted(quoted);
  }

  static String resolve(String template, Map<String, String> given, String output)
      throws ExpressionException {
    return resolve(accepted(withExpression(template)), given, task -> output);
  }

  static String resolve(
      Workflow workflow, Map<String, String> given, Function<Integer, String> outputs)
      throws ExpressionException {
    TaskSpec task = workflow.task(workflow.indexOf("x").orElseThrow());
    return RESOLVER
        .resolve(workflow, task, accepted(workflow.bind(given)), outputs)
        .getOrDefault("value", "");
  }

  /** A list of tasks, each depending on the one before. */
  static String chain(int tasks, String params) {
    StringBuilder text = new StringBuilder("name: chain\nparams: {p: 1}\ntasks:\n");
    for (int i = 0; i < tasks; i++) {
      text.append("- {id: t").append(i).append(", type: e");
      if (i > 0) {
        text.append(", dependsOn: [t").append(i - 1).append(']');
        text.append(params.replace("@", "t" + (i - 1)).replace("#", Integer.toString(i)));
      }
      text.append("}\n");
    }
    return text.toString();
  }
}
