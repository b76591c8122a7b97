package dev.baton.chaos.checker;

import dev.baton.chaos.history.History;
import java.util.Locale;

/** Moments as sentences name them: seconds since the history began. */
final class Moments {
  private Moments() {}

  static String of(History history, long nanos) {
    long zero = history.began().map(began -> began.nanos()).orElse(0L);
    return String.format(Locale.ROOT, "at %.3f s", (nanos - zero) / 1e9);
  }

  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
  }
}
