package dev.baton.node;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A value that somebody gave, still as text.
 *
 * @param items one text, or those of a list
 * @param list whether it was written as a list
 * @param origin where it stands, in the user's words: a file's line, a variable, the command line
 */
record Given(List<String> items, boolean list, String origin) {
  static Given text(String text, String origin) {
    return new Given(List.of(text), false, origin);
  }

  String single() {
    if (list) {
      throw new IllegalArgumentException("one value is expected, but got a list");
    }
    return items.getFirst();
  }

  /** A text with commas is a list, too: variables and flags have no other form. */
  List<String> many() {
    return list ? items : split(items.getFirst());
  }

  /** Reads {@code name=value,name=value}. */
  static Map<String, String> entries(String text) {
    Map<String, String> entries = new LinkedHashMap<>();
    for (String entry : split(text)) {
      int equals = entry.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("name=value is expected, but got '%s'".formatted(entry));
      }
      entries.put(entry.substring(0, equals).strip(), entry.substring(equals + 1).strip());
    }
    return entries;
  }

  private static List<String> split(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }
}
