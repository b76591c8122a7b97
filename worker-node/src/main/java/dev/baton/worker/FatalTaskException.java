package dev.baton.worker;

/** The attempt failed, and no other attempt can do better: the task is not tried again. */
public final class FatalTaskException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public FatalTaskException(String message) {
    super(message);
  }

  public FatalTaskException(String message, Throwable cause) {
    super(message, cause);
  }
}
