package dev.baton.workflow;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** How values stand in sentences. */
final class Words {
  private Words() {}

  /** A text in quotation marks, cut if it is long. */
  static String quoted(String text) {
    return '\'' + shorten(text, 80) + '\'';
  }

  static String shorten(String text, int longest) {
    String line = text.strip().replaceAll("\\s+", " ");
    if (line.length() <= longest) {
      return line;
    }
    int end = Character.isHighSurrogate(line.charAt(longest - 1)) ? longest - 1 : longest;
    return line.substring(0, end) + "…";
  }

  /** {@code "; did you mean 'x'?"} if one of the known words is near, else {@code otherwise}. */
  static String didYouMean(String word, Collection<String> known, String otherwise) {
    return nearest(word, known).map(near -> "; did you mean '" + near + "'?").orElse(otherwise);
  }

  static Optional<String> nearest(String word, Collection<String> known) {
    int best = Math.clamp(word.length() / 3, 1, 4) + 1;
    String found = null;
    String lower = word.toLowerCase(Locale.ROOT);
    for (String candidate : known) {
      if (Math.abs(candidate.length() - word.length()) < best) {
        int distance = distance(lower, candidate.toLowerCase(Locale.ROOT));
        if (distance < best && distance < word.length()) {
          best = distance;
          found = candidate;
        }
      }
    }
    return Optional.ofNullable(found);
  }

  /** Letters to insert, drop, replace, or swap with their neighbour. */
  private static int distance(String a, String b) {
    int[] before = new int[b.length() + 1];
    int[] above = new int[b.length() + 1];
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      above[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        row[j] = Math.min(Math.min(row[j - 1], above[j]) + 1, above[j - 1] + same);
        if (i > 1 && j > 1 && same == 1) {
          if (a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
            row[j] = Math.min(row[j], before[j - 2] + 1);
          }
        }
      }
      int[] free = before;
      before = above;
      above = row;
      row = free;
    }
    return above[b.length()];
  }
}
