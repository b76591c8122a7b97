package dev.baton.coordination;

import java.util.concurrent.CompletionException;

/** Why etcd did not do what was asked; {@link Kind} says what is known about it. */
public final class EtcdException extends RuntimeException {
  /** What is known after a failed call. */
  public enum Kind {
    /** No answer by the deadline, or the connection broke: it may have happened, or happen yet. */
    UNKNOWN_OUTCOME,
    /** No member could be reached, or it has no leader: it may have happened if it was sent. */
    UNAVAILABLE,
    /** The quota is used up: not written by this copy. */
    NO_SPACE,
    /** etcd is overloaded: not written by this copy. */
    TOO_MANY_REQUESTS,
    /** The authentication token has expired: not written by this copy. */
    AUTH_EXPIRED,
    /** Over etcd's limit of request size or operations: never written. */
    TOO_LARGE,
    /** A transaction names a key twice: never written. */
    DUPLICATE_KEY,
    /** The user may not do this: never written. */
    PERMISSION,
    /** The revision asked for is compacted. */
    COMPACTED,
    /** The lease is gone. */
    LEASE_NOT_FOUND,
    /** The client was closed. */
    CLOSED,
    /** Anything else that etcd refuses: a bug of ours. */
    REFUSED
  }

  private final Kind kind;

  public EtcdException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public EtcdException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** What a failed future holds, without its wrapping; anything unexpected is a refusal. */
  public static EtcdException of(Throwable failure) {
    Throwable inner =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return inner instanceof EtcdException known
        ? known
        : new EtcdException(Kind.REFUSED, "A call to etcd failed: " + inner, inner);
  }

  public Kind kind() {
    return kind;
  }

  /** Nobody knows yet whether it happened, so the same call is to be made again. */
  public boolean isUnknown() {
    return kind == Kind.UNKNOWN_OUTCOME || kind == Kind.UNAVAILABLE;
  }

  /** This copy was not written, for a reason that passes: the same call again after a pause. */
  public boolean isStall() {
    return kind == Kind.NO_SPACE || kind == Kind.TOO_MANY_REQUESTS || kind == Kind.AUTH_EXPIRED;
  }
}
