package dev.baton.cli;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Times as people read them, and as programs do. */
final class Times {
  private static final DateTimeFormatter ISO =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private Times() {}

  /** {@code 85 ms}, {@code 3.2 s}, {@code 4 min 5 s}, {@code 2 h 10 min}, {@code 3 d 4 h}. */
  static String duration(long millis) {
    long seconds = millis / 1000;
    if (millis < 1000) {
      return Math.max(0, millis) + " ms";
    }
    if (millis < 10_000) {
      return String.format(Locale.ROOT, "%d.%d s", seconds, millis % 1000 / 100);
    }
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3600) {
      return two(seconds / 60, "min", seconds % 60, "s");
    }
    return seconds < 86_400
        ? two(seconds / 3600, "h", seconds % 3600 / 60, "min")
        : two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h");
  }

  /** {@code 3 s ago}. Clocks of machines differ, so a moment that is to come is "now". */
  static String ago(long thenMillis, Instant now) {
    long millis = now.toEpochMilli() - thenMillis;
    if (millis < 1000) {
      return "now";
    }
    String text = duration(millis < 10_000 ? millis / 1000 * 1000 : millis);
    return text.replace(".0 ", " ") + " ago";
  }

  /** What a program reads; null: no such moment yet. */
  static @Nullable String iso(long millis) {
    return millis == 0 ? null : ISO.format(Instant.ofEpochMilli(millis));
  }

  private static String two(long big, String bigUnit, long small, String smallUnit) {
    return big + " " + bigUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
  }
}
