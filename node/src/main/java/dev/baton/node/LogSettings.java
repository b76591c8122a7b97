package dev.baton.node;

import org.slf4j.event.Level;

/**
 * How a process logs (to stderr: stdout belongs to data).
 *
 * @param format lines for people, or one JSON object a line
 * @param level the lowest level that is logged; talkative libraries stay at WARN
 */
public record LogSettings(@Default("text") Format format, @Default("info") Level level) {
  /** The form of a line. */
  public enum Format {
    TEXT,
    JSON
  }
}
