package dev.baton.client;

import dev.baton.proto.v1.RefusalCode;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call that was refused, or that found nobody to answer it; the message is meant for people. */
public final class BatonException extends RuntimeException {
  private final String message;
  private final RefusalCode code;
  private final Status.Code status;
  private final @Nullable Duration retryAfter;

  BatonException(
      RefusalCode code,
      Status.Code status,
      String message,
      @Nullable Duration retryAfter,
      @Nullable Throwable cause) {
    super(message, cause);
    this.message = message;
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  @Override
  public String getMessage() {
    return message;
  }

  /** Why; unspecified when no node said why, and then {@link #status} tells more. */
  public RefusalCode code() {
    return code;
  }

  public Status.Code status() {
    return status;
  }

  /** When the node asks to try again. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** No node gave an answer: none could be reached, or none in time. */
  public boolean isUnreachable() {
    return code == RefusalCode.REFUSAL_CODE_UNSPECIFIED
        && (status == Status.Code.UNAVAILABLE || status == Status.Code.DEADLINE_EXCEEDED);
  }
}
