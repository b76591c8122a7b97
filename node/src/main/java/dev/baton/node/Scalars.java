package dev.baton.node;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Single values of settings: from text to a type and back. */
final class Scalars {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,12})(ms|s|m|h|d)");

  private static final Map<Class<?>, Function<String, Object>> PARSERS =
      Map.ofEntries(
          Map.entry(String.class, text -> text),
          Map.entry(boolean.class, Scalars::parseBoolean),
          Map.entry(
              int.class,
              text -> Math.toIntExact(parseLong(text, Integer.MIN_VALUE, Integer.MAX_VALUE))),
          Map.entry(long.class, text -> parseLong(text, Long.MIN_VALUE, Long.MAX_VALUE)),
          Map.entry(double.class, Scalars::parseDouble),
          Map.entry(Duration.class, Scalars::parseDuration),
          Map.entry(HostPort.class, HostPort::parse),
          Map.entry(Path.class, Path::of),
          Map.entry(Secret.class, Secret::parse));

  private Scalars() {}

  static boolean known(Class<?> type) {
    return type.isEnum() || PARSERS.containsKey(type);
  }

  /** Throws IllegalArgumentException with a sentence that says what was expected. */
  static Object parse(Class<?> type, String text) {
    Function<String, Object> parser = PARSERS.get(type);
    return parser == null ? parseEnum(type, text) : parser.apply(text.strip());
  }

  /** The form that {@link #parse} reads; a secret is masked. */
  static String format(Object value) {
    return switch (value) {
      case Duration duration -> format(duration);
      case Enum<?> constant -> written(constant);
      case List<?> list ->
          list.stream().map(Scalars::format).collect(Collectors.joining(", ", "[", "]"));
      default -> quoted(value.toString());
    };
  }

  private static String quoted(String text) {
    boolean plain = text.matches("[\\w./@-][\\w./@:-]*") && !text.endsWith(":");
    return plain ? text : "'" + text.replace("'", "''") + "'";
  }

  private static Object parseBoolean(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "yes", "on" -> true;
      case "false", "no", "off" -> false;
      default -> throw expected("true or false", text);
    };
  }

  private static long parseLong(String text, long least, long most) {
    try {
      long value = Long.parseLong(text.replace("_", ""));
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw expected("a whole number", text);
    }
    throw expected("a number from %d to %d".formatted(least, most), text);
  }

  private static Object parseDouble(String text) {
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw expected("a number", text);
    }
    throw expected("a finite number", text);
  }

  private static Object parseDuration(String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw expected("a duration such as 200ms, 5s, 2m, 1h or 7d", text);
    }
    long amount = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  private static String format(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 1000 != 0 || millis == 0) {
      return millis == 0 ? "0s" : millis + "ms";
    }
    if (millis % 86_400_000 == 0) {
      return millis / 86_400_000 + "d";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + "h";
    }
    return millis % 60_000 == 0 ? millis / 60_000 + "m" : millis / 1000 + "s";
  }

  private static Object parseEnum(Class<?> type, String text) {
    Enum<?>[] constants = (Enum<?>[]) type.getEnumConstants();
    for (Enum<?> constant : constants) {
      if (written(constant).equalsIgnoreCase(text.strip())) {
        return constant;
      }
    }
    throw expected(
        "one of "
            + Arrays.stream(constants).map(Scalars::written).collect(Collectors.joining(", ")),
        text);
  }

  private static String written(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static IllegalArgumentException expected(String what, String text) {
    return new IllegalArgumentException("%s is expected, but got '%s'".formatted(what, text));
  }
}
