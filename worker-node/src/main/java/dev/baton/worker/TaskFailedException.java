package dev.baton.worker;

/** The attempt failed; the message, without the name of a class, is what users read. */
public class TaskFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  public TaskFailedException(String message) {
    super(message);
  }

  public TaskFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
