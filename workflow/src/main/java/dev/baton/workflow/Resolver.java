package dev.baton.workflow;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Evaluates the expressions of tasks: from the same inputs always the same outcome. Any thread may
 * use it, but none that must not be late: an evaluation may take some hundred milliseconds. Keep
 * one for the process, it remembers compiled expressions up to a bound.
 */
public final class Resolver {
  private final ExpressionLanguage language = new ExpressionLanguage();

  /**
   * The tasks whose outputs the expressions of a task name; {@link #resolve} asks for no others.
   *
   * @return indices
   */
  public Set<Integer> outputsNeeded(Workflow workflow, TaskSpec task) throws ExpressionException {
    if (task.constants().isPresent()) {
      return Set.of();
    }
    Set<Integer> needed = new HashSet<>();
    for (Map.Entry<String, Template> param : new TreeMap<>(task.params()).entrySet()) {
      if (!param.getValue().isConstant()) {
        collect(node(param.getValue()), workflow, needed);
      }
    }
    return needed;
  }

  private void collect(Node node, Workflow workflow, Set<Integer> needed)
      throws ExpressionException {
    switch (node) {
      case Node.Scalar scalar when scalar.kind() == Node.Kind.TEXT -> {
        for (TemplateText.Piece piece : TemplateText.split(scalar.value())) {
          if (piece.isExpression()) {
            for (String id : language.parse(piece.text()).tasks()) {
              OptionalInt index = workflow.indexOf(id);
              needed.add(index.orElseThrow(() -> noTask(id)));
            }
          }
        }
      }
      case Node.Scalar scalar -> {}
      case Node.Items list -> {
        for (Node item : list.items()) {
          collect(item, workflow, needed);
        }
      }
      case Node.Fields object -> {
        for (Node.Field field : object.fields().values()) {
          collect(field.value(), workflow, needed);
        }
      }
    }
  }

  static ExpressionException noTask(String id) {
    return new ExpressionException("there is no task " + Words.quoted(id) + " in the workflow");
  }

  /**
   * The params of an attempt. Values without an expression are handed on as they stand; what an
   * expression results in is never evaluated again.
   *
   * @param paramsJson the run's parameters as {@link Workflow#bind} made them: a JSON object
   * @param outputJson the output of the task at an index, a JSON text; empty means null; called
   *     only for {@link #outputsNeeded}; what it throws passes through
   * @return JSON texts by name
   * @throws ExpressionException one sentence for the user; a further try would end in the same
   */
  public Map<String, String> resolve(
      Workflow workflow, TaskSpec task, String paramsJson, Function<Integer, String> outputJson)
      throws ExpressionException {
    Optional<Map<String, String>> constants = task.constants();
    if (constants.isPresent()) {
      return constants.get();
    }
    Evaluation evaluation = new Evaluation(language, new Inputs(workflow, paramsJson, outputJson));
    Map<String, String> resolved = HashMap.newHashMap(task.params().size());
    int size = 0;
    for (Map.Entry<String, Template> param : new TreeMap<>(task.params()).entrySet()) {
      Template template = param.getValue();
      String json = template.json();
      if (!template.isConstant()) {
        try {
          json = evaluation.render(node(template), Limits.INPUT_BYTES - size);
        } catch (ExpressionException failure) {
          throw new ExpressionException(
              "param " + param.getKey() + " of task " + task.id() + ": " + failure.getMessage());
        }
      }
      resolved.put(param.getKey(), json);
      size += JsonText.utf8Length(param.getKey()) + JsonText.utf8Length(json);
      if (size > Limits.INPUT_BYTES) {
        throw new ExpressionException(
            "the params of task " + task.id() + " are " + Evaluation.tooLarge());
      }
    }
    return Map.copyOf(resolved);
  }

  private static Node node(Template template) throws ExpressionException {
    try {
      return JsonSource.parse(template.json(), Limits.DEPTH);
    } catch (SourceException malformed) {
      throw new ExpressionException("a param is not JSON: " + malformed.problem().sentence());
    }
  }

  /** Shared with validation, so that what was just judged is not parsed again. */
  ExpressionLanguage language() {
    return language;
  }
}
