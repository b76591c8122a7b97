package dev.baton.workflow;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes nodes of a parser's events. It does not recurse and stops at a depth, so no text can
 * overflow the stack of whoever walks the tree later.
 */
final class TreeBuilder {
  private final int depth;
  private final Deque<Open> open = new ArrayDeque<>();
  private @Nullable Node root;

  TreeBuilder(int depth) {
    this.depth = depth;
  }

  boolean expectsKey() {
    Open inner = open.peek();
    return inner != null && inner.fields != null && inner.key == null;
  }

  /** The parts of a list follow, up to {@link #end}. */
  void startItems(int line, int column) throws SourceException {
    push(new Open(new ArrayList<>(), null, line, column));
  }

  /** The parts of an object follow, up to {@link #end}. */
  void startFields(int line, int column) throws SourceException {
    push(new Open(null, new LinkedHashMap<>(), line, column));
  }

  void key(String name, int line, int column) throws SourceException {
    Open inner = open.element();
    checkText(name, line, column);
    if (inner.fields != null && inner.fields.containsKey(name)) {
      throw fault(
          line, column, "the field " + Words.quoted(name) + " stands here twice; keep one of them");
    }
    inner.key = name;
    inner.keyLine = line;
    inner.keyColumn = column;
  }

  void scalar(Node.Scalar scalar) throws SourceException {
    if (scalar.kind() == Node.Kind.TEXT) {
      checkText(scalar.value(), scalar.line(), scalar.column());
    } else if (scalar.value().length() > Limits.DIGITS) {
      throw fault(
          scalar.line(),
          scalar.column(),
          "the number has more than " + Limits.DIGITS + " characters; write it as text");
    }
    add(scalar);
  }

  void end() {
    Open ended = open.pop();
    add(
        ended.items != null
            ? new Node.Items(ended.items, ended.line, ended.column)
            : new Node.Fields(fieldsOf(ended), ended.line, ended.column));
  }

  @Nullable Node root() {
    return root;
  }

  /** A fault at the path that the builder has come to. */
  SourceException fault(int line, int column, String message) {
    Place place = Place.ROOT;
    for (Open outer : (Iterable<Open>) open::descendingIterator) {
      if (outer.items != null) {
        place = place.item(outer.items.size());
      } else if (outer.key != null) {
        place = place.field(outer.key);
      }
    }
    return new SourceException(place.toString(), line, column, message);
  }

  private void push(Open inner) throws SourceException {
    if (open.size() == depth) {
      throw new SourceException(
          "",
          inner.line,
          inner.column,
          "lists and objects stand more than " + depth + " deep inside each other; flatten them");
    }
    open.push(inner);
  }

  private void add(Node node) {
    Open inner = open.peek();
    if (inner == null) {
      root = node;
    } else if (inner.items != null) {
      inner.items.add(node);
    } else if (inner.key != null) {
      fieldsOf(inner).put(inner.key, new Node.Field(node, inner.keyLine, inner.keyColumn));
      inner.key = null;
    }
  }

  /** Half of a surrogate pair can't be written as UTF-8, so it would not survive being stored. */
  private void checkText(String text, int line, int column) throws SourceException {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean pair = i + 1 < text.length() && Character.isSurrogatePair(c, text.charAt(i + 1));
        if (!pair) {
          throw fault(line, column, "the text holds half of a surrogate pair; write a whole one");
        }
        i++;
      }
    }
  }

  private static Map<String, Node.Field> fieldsOf(Open open) {
    if (open.fields == null) {
      throw new IllegalStateException("Expected an open object, but a list is open");
    }
    return open.fields;
  }

  private static final class Open {
    final @Nullable List<Node> items;
    final @Nullable Map<String, Node.Field> fields;
    final int line;
    final int column;
    @Nullable String key;
    int keyLine;
    int keyColumn;

    Open(
        @Nullable List<Node> items,
        @Nullable Map<String, Node.Field> fields,
        int line,
        int column) {
      this.items = items;
      this.fields = fields;
      this.line = line;
      this.column = column;
    }
  }
}
