package dev.baton.workflow;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Writes JSON without spaces. */
final class JsonText {
  private JsonText() {}

  static String of(Node node) {
    StringBuilder text = new StringBuilder();
    write(node, text);
    return text.toString();
  }

  static void write(Node node, StringBuilder text) {
    switch (node) {
      case Node.Scalar scalar when scalar.kind() == Node.Kind.TEXT -> quote(scalar.value(), text);
      case Node.Scalar scalar -> text.append(scalar.value());
      case Node.Items list -> {
        String comma = "[";
        for (Node item : list.items()) {
          text.append(comma);
          write(item, text);
          comma = ",";
        }
        text.append(list.items().isEmpty() ? "[]" : "]");
      }
      case Node.Fields object -> {
        String comma = "{";
        for (Map.Entry<String, Node.Field> field : object.fields().entrySet()) {
          text.append(comma);
          quote(field.getKey(), text);
          text.append(':');
          write(field.getValue().value(), text);
          comma = ",";
        }
        text.append(object.fields().isEmpty() ? "{}" : "}");
      }
    }
  }

  static void quote(String value, StringBuilder text) {
    text.append('"');
    JsonStringEncoder.getInstance().quoteAsString(value, text);
    text.append('"');
  }

  /** Length in UTF-8, without making the bytes. */
  static int utf8Length(CharSequence text) {
    int length = text.length();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      // Each half of a surrogate pair counts two: four for the pair.
      length += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
    }
    return length;
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
