package dev.baton.workflow;

import java.util.List;
import java.util.Map;

/** Writes the values of one attempt's params with their expressions evaluated. */
final class Evaluation {
  private final ExpressionLanguage language;
  private final Inputs inputs;
  private final Allowance allowance = new Allowance();

  Evaluation(ExpressionLanguage language, Inputs inputs) {
    this.language = language;
    this.inputs = inputs;
  }

  /**
   * @param longest characters that the result may have
   */
  String render(Node template, int longest) throws ExpressionException {
    StringBuilder json = new StringBuilder();
    render(template, longest, json);
    return json.toString();
  }

  private void render(Node template, int longest, StringBuilder json) throws ExpressionException {
    switch (template) {
      case Node.Scalar scalar when scalar.kind() == Node.Kind.TEXT -> text(scalar.value(), json);
      case Node.Scalar scalar -> json.append(scalar.value());
      case Node.Items list -> {
        String comma = "[";
        for (Node item : list.items()) {
          json.append(comma);
          render(item, longest, json);
          comma = ",";
        }
        json.append(list.items().isEmpty() ? "[]" : "]");
      }
      case Node.Fields object -> {
        String comma = "{";
        for (Map.Entry<String, Node.Field> field : object.fields().entrySet()) {
          json.append(comma);
          JsonText.quote(field.getKey(), json);
          json.append(':');
          render(field.getValue().value(), longest, json);
          comma = ",";
        }
        json.append(object.fields().isEmpty() ? "{}" : "}");
      }
    }
    if (json.length() > longest) {
      throw new ExpressionException("the value is, with the other params, " + tooLarge());
    }
  }

  private void text(String template, StringBuilder json) throws ExpressionException {
    List<TemplateText.Piece> pieces = TemplateText.split(template);
    if (pieces.size() == 1 && pieces.getFirst().isExpression()) {
      json.append(evaluate(pieces.getFirst().text()).json());
      return;
    }
    StringBuilder text = new StringBuilder();
    for (TemplateText.Piece piece : pieces) {
      text.append(piece.isExpression() ? evaluate(piece.text()).text() : piece.text());
      if (text.length() > Limits.INPUT_BYTES) {
        throw new ExpressionException("the text is " + tooLarge());
      }
    }
    JsonText.quote(text.toString(), json);
  }

  /**
   * What an expression results in.
   *
   * @param json its value
   * @param text how it stands in a text: a string without quotes, another value as JSON
   */
  private record Outcome(String json, String text) {}

  private Outcome evaluate(String text) throws ExpressionException {
    try {
      Expression expression = language.parse(text);
      Outcome outcome =
          expression.path().isPresent() ? walk(expression.path().get()) : calculate(expression);
      if (JsonText.utf8Length(outcome.json()) > Limits.RESULT_BYTES) {
        throw new ExpressionException(CelValues.tooLarge());
      }
      return outcome;
    } catch (ExpressionException failure) {
      throw new ExpressionException(Expression.shown(text) + ": " + failure.getMessage());
    }
  }

  private Outcome walk(List<Object> path) throws ExpressionException {
    boolean param = path.getFirst().equals(ExpressionAnalysis.PARAMS);
    Node value = param ? inputs.params() : inputs.output((String) path.get(1));
    for (int i = param ? 1 : 3; i < path.size(); i++) {
      value = step(value, path, i);
    }
    String json = JsonText.of(value);
    boolean isText = value instanceof Node.Scalar scalar && scalar.kind() == Node.Kind.TEXT;
    return new Outcome(json, isText ? ((Node.Scalar) value).value() : json);
  }

  private static Node step(Node value, List<Object> path, int at) throws ExpressionException {
    return switch (path.get(at)) {
      case String name -> {
        if (!(value instanceof Node.Fields object)) {
          throw new ExpressionException(
              shown(path, at) + " is " + value.kindName() + ", so it has no field " + name);
        }
        Node field = object.get(name);
        if (field == null) {
          throw new ExpressionException(
              shown(path, at + 1)
                  + ": no such field"
                  + Words.didYouMean(name, object.fields().keySet(), "; " + fields(object)));
        }
        yield field;
      }
      case Long position -> {
        if (!(value instanceof Node.Items list)) {
          throw new ExpressionException(
              shown(path, at) + " is " + value.kindName() + ", so it has no item " + position);
        }
        if (position < 0 || position >= list.items().size()) {
          throw new ExpressionException(
              shown(path, at + 1) + ": no such item; the list has " + list.items().size());
        }
        yield list.items().get(position.intValue());
      }
      default -> throw new IllegalStateException("Expected a name or a position in " + path);
    };
  }

  private static String fields(Node.Fields object) {
    List<String> names = object.fields().keySet().stream().limit(8).toList();
    return names.isEmpty()
        ? "the object is empty"
        : "there are " + Words.shorten(String.join(", ", names), 120);
  }

  /** The first steps of a path as people write it. */
  private static String shown(List<Object> path, int end) {
    StringBuilder text = new StringBuilder(path.getFirst().toString());
    int from = 1;
    if (path.getFirst().equals(ExpressionAnalysis.TASKS)) {
      text = new StringBuilder(ExpressionAnalysis.shownTask((String) path.get(1)));
      from = 2;
    }
    for (Object step : path.subList(from, end)) {
      if (step instanceof String name) {
        text.append('.').append(Words.shorten(name, 40));
      } else {
        text.append('[').append(step).append(']');
      }
    }
    return text.toString();
  }

  private Outcome calculate(Expression expression) throws ExpressionException {
    Object value = language.evaluate(expression, inputs.variables(expression), allowance);
    StringBuilder json = new StringBuilder();
    CelValues.write(value, json);
    return new Outcome(json.toString(), value instanceof String text ? text : json.toString());
  }

  static String tooLarge() {
    return "larger than the limit of "
        + Limits.bytes(Limits.INPUT_BYTES)
        + " for the inputs of an attempt; give the place of the data instead";
  }
}
