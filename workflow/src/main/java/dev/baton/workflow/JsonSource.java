package dev.baton.workflow;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;

/** Reads JSON, by the letter of RFC 8259. */
final class JsonSource {
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              // The builder of the tree has the limits that users see, for YAML and JSON alike.
              StreamReadConstraints.builder()
                  .maxNestingDepth(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private JsonSource() {}

  static Node parse(String text, int depth) throws SourceException {
    TreeBuilder tree = new TreeBuilder(depth);
    try (JsonParser parser = JSON.createParser(text)) {
      JsonToken token = parser.nextToken();
      while (token != null && tree.root() == null) {
        take(token, parser, tree);
        token = parser.nextToken();
      }
      Node root = tree.root();
      if (root == null) {
        throw tree.fault(1, 1, "there is nothing here, or the JSON ends too early");
      }
      if (token != null) {
        JsonLocation at = parser.currentTokenLocation();
        throw tree.fault(
            at.getLineNr(), at.getColumnNr(), "there is more text after the JSON value; remove it");
      }
      return root;
    } catch (JsonProcessingException malformed) {
      JsonLocation at = malformed.getLocation();
      throw tree.fault(
          at == null ? 1 : Math.max(1, at.getLineNr()),
          at == null ? 1 : Math.max(1, at.getColumnNr()),
          "the JSON is malformed: " + reason(malformed));
    } catch (IOException impossible) {
      throw new IllegalStateException("Expected no I/O in reading a string", impossible);
    }
  }

  private static void take(JsonToken token, JsonParser parser, TreeBuilder tree)
      throws IOException, SourceException {
    JsonLocation at = parser.currentTokenLocation();
    int line = at.getLineNr();
    int column = at.getColumnNr();
    switch (token) {
      case START_OBJECT -> tree.startFields(line, column);
      case START_ARRAY -> tree.startItems(line, column);
      case END_OBJECT, END_ARRAY -> tree.end();
      case FIELD_NAME -> tree.key(parser.currentName(), line, column);
      case VALUE_STRING -> tree.scalar(scalar(Node.Kind.TEXT, parser.getText(), line, column));
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT ->
          tree.scalar(scalar(Node.Kind.NUMBER, parser.getText(), line, column));
      case VALUE_TRUE, VALUE_FALSE ->
          tree.scalar(scalar(Node.Kind.BOOLEAN, parser.getText(), line, column));
      case VALUE_NULL -> tree.scalar(scalar(Node.Kind.NULL, "null", line, column));
      case NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT ->
          throw new IllegalStateException("Expected a token of JSON, but got " + token);
    }
  }

  private static Node.Scalar scalar(Node.Kind kind, String text, int line, int column) {
    return new Node.Scalar(kind, text, text, line, column);
  }

  /** What Jackson says, without its hints for programmers. */
  private static String reason(JsonProcessingException malformed) {
    String text = String.valueOf(malformed.getOriginalMessage());
    int end = text.indexOf('\n');
    text = end < 0 ? text : text.substring(0, end);
    int hint = text.indexOf(" (start marker at");
    return Words.shorten(hint < 0 ? text : text.substring(0, hint), 200);
  }
}
