package dev.baton.workflow;

import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Spans of time as definitions write them: a whole number and ms, s, m, h or d. */
final class Durations {
  private static final Pattern SHAPE = Pattern.compile("([0-9]{1,10})(ms|s|m|h|d)");

  private Durations() {}

  static Optional<Duration> parse(String text) {
    Matcher match = SHAPE.matcher(text);
    if (!match.matches()) {
      return Optional.empty();
    }
    long count = Long.parseLong(match.group(1));
    return Optional.of(
        switch (match.group(2)) {
          case "ms" -> Duration.ofMillis(count);
          case "s" -> Duration.ofSeconds(count);
          case "m" -> Duration.ofMinutes(count);
          case "h" -> Duration.ofHours(count);
          default -> Duration.ofDays(count);
        });
  }

  /** In the largest unit that leaves a whole number. */
  static String format(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    if (millis % 1_000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1_000;
    if (seconds % 86_400 == 0) {
      return seconds / 86_400 + "d";
    }
    if (seconds % 3_600 == 0) {
      return seconds / 3_600 + "h";
    }
    return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
  }
}
