package dev.baton.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What the text pipeline must come to, computed here, by other code than the workers': how many
 * words all texts have, and their most frequent ones. As in the pipeline, only the most frequent
 * words of each text are added up.
 */
public final class ExpectedReport {
  private static final JsonMapper MAPPER = new JsonMapper();

  private ExpectedReport() {}

  /**
   * The fields {@code words} and {@code top} of the report.
   *
   * @param top how many words each list holds
   */
  public static JsonNode of(List<Path> texts, int top) throws IOException {
    long words = 0;
    Map<String, Long> sums = new HashMap<>();
    for (Path text : texts) {
      Map<String, Long> counts = count(Files.readString(text));
      words += counts.values().stream().mapToLong(Long::longValue).sum();
      mostFrequent(counts, top)
          .forEach(entry -> sums.merge(entry.getKey(), entry.getValue(), Long::sum));
    }
    ObjectNode report = MAPPER.createObjectNode();
    report.put("words", words);
    var list = report.putArray("top");
    mostFrequent(sums, top)
        .forEach(
            entry -> list.addObject().put("word", entry.getKey()).put("count", entry.getValue()));
    return report;
  }

  private static List<Map.Entry<String, Long>> mostFrequent(Map<String, Long> counts, int top) {
    return counts.entrySet().stream()
        .sorted(
            Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                .thenComparing(Map.Entry.comparingByKey()))
        .limit(top)
        .toList();
  }

  /** A word is letters, marks and digits, with single apostrophes inside; case does not matter. */
  static Map<String, Long> count(String text) {
    Map<String, Long> counts = new HashMap<>();
    StringBuilder word = new StringBuilder();
    int[] points = text.codePoints().toArray();
    for (int i = 0; i <= points.length; i++) {
      boolean inside =
          i < points.length
              && (isPart(points[i])
                  || (isApostrophe(points[i])
                      && !word.isEmpty()
                      && !isApostrophe(points[i - 1])
                      && i + 1 < points.length
                      && isPart(points[i + 1])));
      if (inside) {
        word.appendCodePoint(points[i]);
      } else if (!word.isEmpty()) {
        counts.merge(word.toString().toLowerCase(Locale.ROOT), 1L, Long::sum);
        word.setLength(0);
      }
    }
    return counts;
  }

  private static boolean isPart(int point) {
    int type = Character.getType(point);
    return Character.isLetter(point)
        || type == Character.NON_SPACING_MARK
        || type == Character.ENCLOSING_MARK
        || type == Character.COMBINING_SPACING_MARK
        || type == Character.DECIMAL_DIGIT_NUMBER
        || type == Character.LETTER_NUMBER
        || type == Character.OTHER_NUMBER;
  }

  private static boolean isApostrophe(int point) {
    return point == '\'' || point == '\u2019';
  }
}
