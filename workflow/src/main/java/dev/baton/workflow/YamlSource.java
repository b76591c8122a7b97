package dev.baton.workflow;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.AliasEvent;
import org.yaml.snakeyaml.events.CollectionStartEvent;
import org.yaml.snakeyaml.events.DocumentStartEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.NodeEvent;
import org.yaml.snakeyaml.events.ScalarEvent;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.ReaderException;
import org.yaml.snakeyaml.reader.StreamReader;

/**
 * Reads the part of YAML that says what JSON can say. Only the parser's events are used, nothing
 * that could build an object; anchors, aliases and tags are refused. A plain scalar is a boolean, a
 * null, or a number if it is one in JSON, and text otherwise: {@code no}, {@code 0644}, {@code
 * 12:30} and {@code 2024-01-01} are what they look like.
 */
final class YamlSource {
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

  private final String text;
  private final TreeBuilder tree;

  private YamlSource(String text, int depth) {
    this.text = text;
    this.tree = new TreeBuilder(depth);
  }

  static Node parse(String text, int depth) throws SourceException {
    return new YamlSource(text, depth).parse();
  }

  private Node parse() throws SourceException {
    try {
      LoaderOptions options = new LoaderOptions();
      options.setCodePointLimit(Integer.MAX_VALUE);
      ParserImpl events = new ParserImpl(new StreamReader(text), options);
      int documents = 0;
      for (Event event = events.getEvent(); event != null; event = events.getEvent()) {
        if (event instanceof DocumentStartEvent && ++documents > 1) {
          throw fault(event, "a second YAML document begins here; a definition is one document");
        }
        take(event);
      }
    } catch (MarkedYAMLException malformed) {
      Mark mark = malformed.getProblemMark();
      throw tree.fault(
          mark == null ? 1 : mark.getLine() + 1,
          mark == null ? 1 : mark.getColumn() + 1,
          "the YAML is malformed: " + reason(malformed));
    } catch (ReaderException unprintable) {
      throw unprintable(unprintable);
    } catch (YAMLException | IllegalArgumentException | IndexOutOfBoundsException malformed) {
      // The parser has no mark for some escapes and directives that it can't read.
      throw tree.fault(
          1, 1, "the YAML can't be read: " + Words.shorten(String.valueOf(malformed), 200));
    }
    Node root = tree.root();
    if (root == null) {
      return new Node.Scalar(Node.Kind.NULL, "", "null", 1, 1);
    }
    return root;
  }

  private void take(Event event) throws SourceException {
    if (event instanceof NodeEvent node && node.getAnchor() != null) {
      throw fault(
          event,
          event instanceof AliasEvent
              ? "aliases (*" + node.getAnchor() + ") are not read; write the value out"
              : "anchors (&" + node.getAnchor() + ") are not read; write the value out");
    }
    int line = line(event);
    int column = column(event);
    switch (event.getEventId()) {
      case SequenceStart, MappingStart -> {
        CollectionStartEvent start = (CollectionStartEvent) event;
        refuseTag(event, start.getTag());
        if (tree.expectsKey()) {
          throw fault(event, "a name of a field must be text; quote it");
        }
        if (event.is(Event.ID.SequenceStart)) {
          tree.startItems(line, column);
        } else {
          tree.startFields(line, column);
        }
      }
      case SequenceEnd, MappingEnd -> tree.end();
      case Scalar -> {
        ScalarEvent scalar = (ScalarEvent) event;
        refuseTag(event, scalar.getTag());
        if (tree.expectsKey()) {
          tree.key(scalar.getValue(), line, column);
        } else {
          tree.scalar(scalar(scalar, line, column));
        }
      }
      case Alias, Comment, DocumentStart, DocumentEnd, StreamStart, StreamEnd -> {}
    }
  }

  private static Node.Scalar scalar(ScalarEvent event, int line, int column) {
    String source = event.getValue();
    if (!event.isPlain()) {
      return new Node.Scalar(Node.Kind.TEXT, source, source, line, column);
    }
    return switch (source) {
      case "", "~", "null", "Null", "NULL" ->
          new Node.Scalar(Node.Kind.NULL, source, "null", line, column);
      case "true", "True", "TRUE" ->
          new Node.Scalar(Node.Kind.BOOLEAN, source, "true", line, column);
      case "false", "False", "FALSE" ->
          new Node.Scalar(Node.Kind.BOOLEAN, source, "false", line, column);
      default -> {
        Node.Kind kind = NUMBER.matcher(source).matches() ? Node.Kind.NUMBER : Node.Kind.TEXT;
        yield new Node.Scalar(kind, source, source, line, column);
      }
    };
  }

  private void refuseTag(Event event, @Nullable String tag) throws SourceException {
    if (tag != null) {
      throw fault(event, "tags (" + Words.shorten(tag, 60) + ") are not read; remove it");
    }
  }

  private SourceException fault(Event event, String message) {
    return tree.fault(line(event), column(event), message);
  }

  private SourceException unprintable(ReaderException at) {
    int position = Math.min(at.getPosition(), text.codePointCount(0, text.length()));
    int end = text.offsetByCodePoints(0, position);
    String before = text.substring(0, end);
    int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
    int column = before.length() - before.lastIndexOf('\n');
    return tree.fault(
        line,
        column,
        String.format(
            "the character U+%04X can't stand in YAML; remove it, or write it as an escape in"
                + " double quotes",
            at.getCodePoint()));
  }

  private static String reason(MarkedYAMLException malformed) {
    String problem = malformed.getProblem();
    return Words.shorten(problem == null ? String.valueOf(malformed.getContext()) : problem, 200);
  }

  private static int line(Event event) {
    return event.getStartMark().getLine() + 1;
  }

  private static int column(Event event) {
    return event.getStartMark().getColumn() + 1;
  }
}
