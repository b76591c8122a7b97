package dev.baton.workflow;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Judges the expressions of a definition: what they say, and what they may name. */
final class ExpressionRules {
  /**
   * Characters of the shapes of expressions whose types are checked; beyond it the first attempt
   * tells. A check takes some 5 microseconds a character, and a hostile one 20.
   */
  private static final int CHECKED_CHARACTERS = 20_000;

  /** Tasks that a report lists. */
  private static final int SHOWN = 8;

  private final ExpressionLanguage language;
  private final Definition definition;
  private final Graph graph;
  private final Problems problems;
  private final Set<String> calculations = new HashSet<>();
  private final Map<String, Optional<String>> shapes = new HashMap<>();
  private int checkedCharacters;

  ExpressionRules(
      ExpressionLanguage language, Definition definition, Graph graph, Problems problems) {
    this.language = language;
    this.definition = definition;
    this.graph = graph;
    this.problems = problems;
  }

  void check() {
    for (Definition.Draft task : definition.tasks()) {
      if (!task.params().isEmpty()) {
        Set<Integer> direct = new HashSet<>(graph.dependencies(task.index()));
        Place params = task.place().field("params");
        task.params()
            .forEach((name, field) -> walk(task, direct, params.field(name), field.value()));
        if (task.type().equals("shell")) {
          checkShell(task);
        }
      }
    }
  }

  /** What is pasted into a command line is run by the shell, whoever wrote it. */
  private void checkShell(Definition.Draft task) {
    Node.Field allowed = task.params().get("allowTemplate");
    Node.Field command = task.params().get("command");
    boolean isAllowed =
        allowed != null
            && allowed.value() instanceof Node.Scalar scalar
            && scalar.kind() == Node.Kind.BOOLEAN
            && scalar.value().equals("true");
    if (command != null && !isAllowed && hasExpression(command.value())) {
      problems.add(
          task.place().field("params").field("command"),
          command.value(),
          () ->
              "an expression in a shell command would run whatever its value says; put it into env"
                  + " and use \"$NAME\" in the command, or set allowTemplate: true");
    }
  }

  private static boolean hasExpression(Node node) {
    return switch (node) {
      case Node.Scalar scalar when scalar.kind() == Node.Kind.TEXT -> {
        try {
          yield TemplateText.split(scalar.value()).stream()
              .anyMatch(TemplateText.Piece::isExpression);
        } catch (ExpressionException unclosed) {
          yield true;
        }
      }
      case Node.Scalar scalar -> false;
      case Node.Items list -> list.items().stream().anyMatch(ExpressionRules::hasExpression);
      case Node.Fields object ->
          object.fields().values().stream().anyMatch(field -> hasExpression(field.value()));
    };
  }

  private void walk(Definition.Draft task, Set<Integer> direct, Place place, Node node) {
    switch (node) {
      case Node.Scalar scalar -> {
        if (scalar.kind() == Node.Kind.TEXT && scalar.value().contains(TemplateText.OPEN)) {
          text(task, direct, place, scalar);
        }
      }
      case Node.Items list -> {
        for (int i = 0; i < list.items().size(); i++) {
          walk(task, direct, place.item(i), list.items().get(i));
        }
      }
      case Node.Fields object ->
          object
              .fields()
              .forEach((name, field) -> {
                if (name.contains(TemplateText.OPEN)) {
                  problems.add(
                      place.field(name),
                      field.line(),
                      field.column(),
                      () -> "names are not evaluated, only values; move the expression there");
                }
                walk(task, direct, place.field(name), field.value());
              });
    }
  }

  private void text(Definition.Draft task, Set<Integer> direct, Place place, Node.Scalar scalar) {
    List<TemplateText.Piece> pieces;
    try {
      pieces = TemplateText.split(scalar.value());
    } catch (ExpressionException unclosed) {
      problems.add(place, scalar, unclosed::getMessage);
      return;
    }
    for (TemplateText.Piece piece : pieces) {
      if (piece.isExpression()) {
        try {
          expression(task, direct, place, scalar, language.parse(piece.text()));
        } catch (ExpressionException wrong) {
          problems.add(
              place, scalar, () -> Expression.shown(piece.text()) + ": " + wrong.getMessage());
        }
      }
    }
  }

  /** Messages are written only for what is reported: to look for near names takes its time. */
  private void expression(
      Definition.Draft task,
      Set<Integer> direct,
      Place place,
      Node.Scalar scalar,
      Expression expression) {
    for (String name : expression.params()) {
      Set<String> known = definition.params().keySet();
      if (!known.contains(name)) {
        report(
            place,
            scalar,
            expression,
            () ->
                "the workflow has no parameter "
                    + Words.quoted(name)
                    + Words.didYouMean(name, known, "; declare it under params"));
      }
    }
    for (String id : expression.tasks()) {
      Optional<Integer> named = graph.indexOf(id);
      if (named.isEmpty()) {
        report(
            place,
            scalar,
            expression,
            () -> Resolver.noTask(id).getMessage() + Words.didYouMean(id, graph.ids(), ""));
      } else if (!direct.contains(named.get()) && !graph.ancestors(task.index()).get(named.get())) {
        report(place, scalar, expression, () -> notADependency(task, id));
      }
    }
    if (expression.path().isEmpty()) {
      calculation(place, scalar, expression);
    }
  }

  private void report(
      Place place, Node.Scalar scalar, Expression expression, Supplier<String> message) {
    problems.add(place, scalar, () -> Expression.shown(expression.text()) + ": " + message.get());
  }

  private void calculation(Place place, Node.Scalar scalar, Expression expression) {
    if (calculations.add(expression.text()) && calculations.size() == Limits.CALCULATIONS + 1) {
      problems.add(
          place,
          scalar,
          () ->
              "here the workflow comes to more different calculations than the limit of "
                  + Limits.count(Limits.CALCULATIONS)
                  + "; expressions that only name a value are not counted");
    }
    // Types depend on operators and literals, not on the numbers in names and texts; those are
    // what differs between the tasks of a large workflow.
    String shape = expression.text().replaceAll("[0-9]+", "0");
    Optional<String> fault = shapes.get(shape);
    if (fault == null && checkedCharacters < CHECKED_CHARACTERS) {
      checkedCharacters += shape.length();
      fault = Optional.empty();
      try {
        language.check(expression);
      } catch (ExpressionException wrong) {
        fault = Optional.of(wrong.getMessage());
      }
      shapes.put(shape, fault);
    }
    if (fault != null && fault.isPresent()) {
      report(place, scalar, expression, fault::get);
    }
  }

  private String notADependency(Definition.Draft task, String id) {
    BitSet before = graph.ancestors(task.index());
    List<String> allowed = new ArrayList<>();
    before.stream().limit(SHOWN).forEach(index -> allowed.add(graph.id(index)));
    int more = before.cardinality() - allowed.size();
    return "the task '"
        + task.id()
        + "' doesn't depend on '"
        + id
        + "', so its output may not be there; add it to dependsOn"
        + (allowed.isEmpty()
            ? ""
            : ", or name one of " + String.join(", ", allowed) + (more > 0 ? ", …" : ""));
  }
}
