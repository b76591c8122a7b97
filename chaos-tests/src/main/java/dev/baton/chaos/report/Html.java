package dev.baton.chaos.report;

import java.util.Locale;

/** Text that is safe in a page. */
final class Html {
  private Html() {}

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value).replace(',', '\u202f');
  }

  /** Seconds with one digit. */
  static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f s", seconds);
  }

  static String millis(long millis) {
    return number(millis) + " ms";
  }
}
