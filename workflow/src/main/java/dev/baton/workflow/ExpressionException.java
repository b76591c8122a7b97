package dev.baton.workflow;

/** An expression can't be evaluated: its message is one sentence for the user. */
public final class ExpressionException extends Exception {
  private static final long serialVersionUID = 1;

  public ExpressionException(String message) {
    // No stack trace: this is an answer, and may come by the thousand.
    super(message, null, false, false);
  }

  /** Never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
