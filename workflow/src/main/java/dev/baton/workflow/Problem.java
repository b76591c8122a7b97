package dev.baton.workflow;

/**
 * One thing that is wrong with what a user gave.
 *
 * @param place path to the value, as {@code tasks[3].retry.attempts}; empty: the text as a whole
 * @param line from 1; 0: unknown
 * @param column from 1; 0: unknown
 * @param message what is wrong, the limit, and the way out
 */
public record Problem(String place, int line, int column, String message) {
  /** The whole as one sentence. */
  public String sentence() {
    StringBuilder text = new StringBuilder(place);
    if (line > 0) {
      String position = "line " + line + ", column " + column;
      text.append(place.isEmpty() ? position : " (" + position + ")");
    }
    return text.append(text.isEmpty() ? "" : ": ").append(message).toString();
  }

  @Override
  public String toString() {
    return sentence();
  }
}
