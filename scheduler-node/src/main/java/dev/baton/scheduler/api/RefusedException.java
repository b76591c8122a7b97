package dev.baton.scheduler.api;

import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;

/** A call ends here, with a refusal; for use within this package's call chains only. */
final class RefusedException extends Exception {
  private final transient Refusal refusal;

  RefusedException(RefusalCode code, String message) {
    this(new Refusal(code, message));
  }

  RefusedException(Refusal refusal) {
    super(refusal.message());
    this.refusal = refusal;
  }

  Refusal refusal() {
    return refusal;
  }
}
