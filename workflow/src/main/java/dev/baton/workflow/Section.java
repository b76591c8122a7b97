package dev.baton.workflow;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One object of a definition while it is read: takes its fields by name and kind, and reports what
 * is not as it should be. A field that is null counts as absent. After a report the reader goes on
 * with the default, so that one look finds all problems.
 */
final class Section {
  /** An empty one, where the definition has none or something else. */
  private static final Node.Fields NOTHING = new Node.Fields(Map.of(), 0, 0);

  private final Node.Fields node;
  private final Place place;
  private final Problems problems;
  private final boolean isObject;

  Section(@Nullable Node node, Place place, Problems problems, List<String> known) {
    this.place = place;
    this.problems = problems;
    this.isObject = node instanceof Node.Fields;
    if (node instanceof Node.Fields fields) {
      this.node = fields;
    } else {
      this.node = NOTHING;
      if (node != null && !node.isNull()) {
        problems.add(
            place, node, () -> "expected an object, but found " + node.kindName() + fields(known));
      }
    }
    this.node
        .fields()
        .forEach((name, field) -> {
          if (!known.contains(name)) {
            problems.add(
                place.field(name),
                field.line(),
                field.column(),
                () ->
                    "there is no field "
                        + Words.quoted(name)
                        + " here"
                        + Words.didYouMean(name, known, fields(known)));
          }
        });
  }

  private static String fields(List<String> known) {
    return "; it has the fields " + String.join(", ", known);
  }

  Place place() {
    return place;
  }

  @Nullable Node get(String name) {
    Node value = node.get(name);
    return value == null || value.isNull() ? null : value;
  }

  void report(String name, Node at, Supplier<String> message) {
    problems.add(place.field(name), at, message);
  }

  /** A text that must be there; empty after a report. */
  String required(String name, Pattern shape, String rule) {
    String text = text(name, shape, rule);
    if (text == null && isObject) {
      problems.add(
          place.field(name), node, () -> "the field " + name + " is missing; give it, " + rule);
    }
    return text == null ? "" : text;
  }

  /** Null: it is not there. Empty: it was reported. */
  @Nullable String text(String name, Pattern shape, String rule) {
    Node value = get(name);
    if (value == null) {
      return null;
    }
    if (!(value instanceof Node.Scalar scalar)) {
      report(name, value, () -> "expected text, but found " + value.kindName() + "; use " + rule);
      return "";
    }
    if (!shape.matcher(scalar.source()).matches()) {
      report(
          name,
          value,
          () ->
              Words.quoted(scalar.source()) + " is not allowed; use " + rule + noTemplate(scalar));
      return "";
    }
    return scalar.source();
  }

  Duration duration(String name, Duration otherwise) {
    Node value = get(name);
    if (value == null) {
      return otherwise;
    }
    if (value instanceof Node.Scalar scalar) {
      Duration duration = Durations.parse(scalar.source()).orElse(null);
      if (duration == null) {
        report(
            name,
            value,
            () ->
                Words.quoted(scalar.source())
                    + " is not a duration; write a whole number and ms, s, m, h or d, as 500ms or"
                    + " 5m"
                    + noTemplate(scalar));
      } else if (duration.compareTo(Limits.DURATION) > 0) {
        report(
            name,
            value,
            () -> scalar.source() + " is longer than the limit of " + longest() + "; shorten it");
      } else {
        return duration;
      }
    } else {
      report(
          name,
          value,
          () -> "expected a duration, but found " + value.kindName() + "; write it as 500ms or 5m");
    }
    return otherwise;
  }

  int integer(String name, int least, int most, int otherwise) {
    Node value = get(name);
    if (value == null) {
      return otherwise;
    }
    String rule = "; write a whole number from " + least + " to " + most;
    if (value instanceof Node.Scalar scalar && scalar.kind() == Node.Kind.NUMBER) {
      try {
        int number = Integer.parseInt(scalar.value());
        if (number >= least && number <= most) {
          return number;
        }
      } catch (NumberFormatException notWhole) {
        // Reported below, as one that is out of range.
      }
      report(name, value, () -> Words.shorten(scalar.value(), 40) + " is not allowed" + rule);
    } else {
      report(name, value, () -> "expected a number, but found " + value.kindName() + rule);
    }
    return otherwise;
  }

  <E extends Enum<E>> E oneOf(String name, Class<E> type, E otherwise) {
    Node value = get(name);
    return value == null ? otherwise : constant(name, value, type, otherwise);
  }

  <E extends Enum<E>> @Nullable Set<E> setOf(String name, Class<E> type) {
    Node value = get(name);
    if (value == null) {
      return null;
    }
    Set<E> set = EnumSet.noneOf(type);
    if (value instanceof Node.Items list) {
      E filler = type.getEnumConstants()[0];
      list.items().forEach(item -> set.add(constant(name, item, type, filler)));
    } else {
      report(name, value, () -> "expected a list of " + words(type) + ", as [" + word(type) + "]");
    }
    return set;
  }

  private <E extends Enum<E>> E constant(String name, Node value, Class<E> type, E otherwise) {
    if (value instanceof Node.Scalar scalar) {
      for (E constant : type.getEnumConstants()) {
        if (lower(constant).equals(scalar.source())) {
          return constant;
        }
      }
    }
    report(name, value, () -> "expected " + words(type) + ", but found " + value.kindName());
    return otherwise;
  }

  private static <E extends Enum<E>> String words(Class<E> type) {
    StringBuilder words = new StringBuilder();
    for (E constant : type.getEnumConstants()) {
      words.append(words.isEmpty() ? "" : " or ").append(lower(constant));
    }
    return words.toString();
  }

  private static <E extends Enum<E>> String word(Class<E> type) {
    return lower(type.getEnumConstants()[0]);
  }

  static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static String longest() {
    return Durations.format(Limits.DURATION);
  }

  private static String noTemplate(Node.Scalar scalar) {
    return scalar.source().contains(TemplateText.OPEN)
        ? " (expressions are evaluated only in the params of tasks)"
        : "";
  }
}
