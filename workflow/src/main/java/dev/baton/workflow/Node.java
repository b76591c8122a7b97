package dev.baton.workflow;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A value of JSON's kinds as it stands in a text, YAML or JSON, with its place there. Numbers are
 * kept as digits, so nothing is lost in passing a value on.
 */
sealed interface Node {
  /** From 1. */
  int line();

  /** From 1. */
  int column();

  /** What it is, for a sentence. */
  String kindName();

  /** What a scalar is. */
  enum Kind {
    TEXT,
    NUMBER,
    BOOLEAN,
    NULL
  }

  /**
   * A value without parts.
   *
   * @param source as it stands in the text
   * @param value the text, or the JSON literal of another kind
   */
  record Scalar(Kind kind, String source, String value, int line, int column) implements Node {
    @Override
    public String kindName() {
      return switch (kind) {
        case TEXT -> "text " + Words.quoted(value);
        case NUMBER -> "number " + Words.shorten(value, 40);
        case BOOLEAN -> value;
        case NULL -> "null";
      };
    }
  }

  /** A list. */
  record Items(List<Node> items, int line, int column) implements Node {
    @Override
    public String kindName() {
      return "a list";
    }
  }

  /**
   * An object.
   *
   * @param fields in the order of the text
   */
  record Fields(Map<String, Field> fields, int line, int column) implements Node {
    @Override
    public String kindName() {
      return "an object";
    }

    @Nullable Node get(String name) {
      Field field = fields.get(name);
      return field == null ? null : field.value();
    }
  }

  /**
   * A field of an object.
   *
   * @param line of its name
   * @param column of its name
   */
  record Field(Node value, int line, int column) {}

  default boolean isNull() {
    return this instanceof Scalar scalar && scalar.kind() == Kind.NULL;
  }
}
