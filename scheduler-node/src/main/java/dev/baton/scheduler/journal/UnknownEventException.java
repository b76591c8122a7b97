package dev.baton.scheduler.journal;

/**
 * The journal holds an event that this version does not know: it cannot follow, and must never
 * lead.
 */
public final class UnknownEventException extends IllegalStateException {
  UnknownEventException(String message) {
    super(message);
  }
}
