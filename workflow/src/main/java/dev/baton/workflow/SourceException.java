package dev.baton.workflow;

/** A text ends being YAML or JSON at this place; nothing after it can be judged. */
final class SourceException extends Exception {
  private static final long serialVersionUID = 1;

  private final String place;
  private final int line;
  private final int column;

  SourceException(String place, int line, int column, String message) {
    super(message);
    this.place = place;
    this.line = line;
    this.column = column;
  }

  Problem problem() {
    return new Problem(place, line, column, String.valueOf(getMessage()));
  }
}
