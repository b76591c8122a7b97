package dev.baton.worker.builtin;

import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskFailedException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts the words of a text. A word is a run of letters, marks and digits of any script, with
 * single apostrophes inside ({@code don't}); words that differ only in case are the same.
 */
final class Words {
  static final Pattern WORD =
      Pattern.compile("[\\p{L}\\p{M}\\p{N}]+(?:['\\u2019][\\p{L}\\p{M}\\p{N}]+)*");

  /** A cancel is noticed after so many words at the latest. */
  private static final int STRIDE = 4096;

  private Words() {}

  /** A word and how often it occurs. */
  record Count(String word, long count) {
    /** Most frequent first, then by the alphabet, so that a text has one result. */
    static final Comparator<Count> ORDER =
        Comparator.comparingLong(Count::count).reversed().thenComparing(Count::word);
  }

  /** Lines end with a line feed; a last one without it counts. Characters are code points. */
  record Summary(long words, long lines, long characters, List<Count> top) {}

  static Summary count(String text, int top, TaskContext context) throws TaskFailedException {
    Map<String, Long> counts = new HashMap<>();
    long words = 0;
    Matcher matcher = WORD.matcher(text);
    while (matcher.find()) {
      counts.merge(matcher.group().toLowerCase(Locale.ROOT), 1L, Long::sum);
      if (++words % STRIDE == 0) {
        stopIfCancelled(context);
      }
    }
    long lines = text.chars().filter(c -> c == '\n').count();
    if (!text.isEmpty() && !text.endsWith("\n")) {
      lines++;
    }
    return new Summary(words, lines, text.codePointCount(0, text.length()), top(counts, top));
  }

  static List<Count> top(Map<String, Long> counts, int top) {
    return counts.entrySet().stream()
        .map(entry -> new Count(entry.getKey(), entry.getValue()))
        .sorted(Count.ORDER)
        .limit(top)
        .toList();
  }

  static void stopIfCancelled(TaskContext context) throws TaskFailedException {
    if (context.isCancelled()) {
      throw new TaskFailedException("stopped half-way, as it was told to");
    }
  }
}
