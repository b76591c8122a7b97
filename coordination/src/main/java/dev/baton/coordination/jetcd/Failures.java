package dev.baton.coordination.jetcd;

import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import io.grpc.Status;
import java.net.ConnectException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** The one table from gRPC's statuses and etcd's texts to what is known about a failed call. */
final class Failures {
  private Failures() {}

  static EtcdException of(Status status, String target) {
    String text = status.getDescription() == null ? "" : status.getDescription();
    Kind kind = kind(status, text);
    String message =
        switch (kind) {
          case UNKNOWN_OUTCOME -> "No answer from etcd at " + target + ": " + describe(status);
          case UNAVAILABLE -> "etcd at " + target + " is unavailable: " + describe(status);
          case CLOSED -> "The client of etcd is closed.";
          default -> "etcd at " + target + " refused: " + describe(status);
        };
    Throwable cause = status.getCause();
    return cause == null
        ? new EtcdException(kind, message)
        : new EtcdException(kind, message, cause);
  }

  private static Kind kind(Status status, String text) {
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED, CANCELLED, ABORTED, INTERNAL -> Kind.UNKNOWN_OUTCOME;
      case UNAVAILABLE -> neverSent(status, text) ? Kind.UNAVAILABLE : Kind.UNKNOWN_OUTCOME;
      case RESOURCE_EXHAUSTED -> exhausted(text);
      case PERMISSION_DENIED -> Kind.PERMISSION;
      case UNAUTHENTICATED -> Kind.AUTH_EXPIRED;
      case NOT_FOUND -> text.contains("lease not found") ? Kind.LEASE_NOT_FOUND : Kind.REFUSED;
      case OUT_OF_RANGE ->
          text.contains("revision has been compacted") ? Kind.COMPACTED : Kind.REFUSED;
      case INVALID_ARGUMENT -> invalid(text);
      // "not leader" and "not capable": another member may do it.
      case FAILED_PRECONDITION -> text.contains("not leader") ? Kind.UNAVAILABLE : Kind.REFUSED;
      case UNKNOWN -> text.contains("invalid auth token") ? Kind.AUTH_EXPIRED : unknown(text);
      default -> Kind.REFUSED;
    };
  }

  private static boolean neverSent(Status status, String text) {
    return text.contains("no leader")
        || text.contains("unhealthy cluster")
        || text.contains("not capable")
        || has(status.getCause(), ConnectException.class)
        || has(status.getCause(), UnknownHostException.class);
  }

  private static Kind exhausted(String text) {
    if (text.contains("database space exceeded")) {
      return Kind.NO_SPACE;
    }
    // Both ends of gRPC limit the size of a message.
    return text.contains("larger than max") || text.contains("exceeds maximum size")
        ? Kind.TOO_LARGE
        : Kind.TOO_MANY_REQUESTS;
  }

  private static Kind invalid(String text) {
    if (text.contains("too many operations") || text.contains("request is too large")) {
      return Kind.TOO_LARGE;
    }
    if (text.contains("duplicate key")) {
      return Kind.DUPLICATE_KEY;
    }
    if (text.contains("auth store is old")) {
      return Kind.AUTH_EXPIRED;
    }
    // "user name is empty" is what a call without a token gets once authentication is on.
    return text.contains("authentication failed") || text.contains("user name is empty")
        ? Kind.PERMISSION
        : Kind.REFUSED;
  }

  /** What etcd did not name: raft dropped a proposal, the server is stopping. */
  private static Kind unknown(String text) {
    return text.startsWith("etcdserver: ") ? Kind.REFUSED : Kind.UNKNOWN_OUTCOME;
  }

  private static boolean has(@Nullable Throwable cause, Class<? extends Throwable> type) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (type.isInstance(t)) {
        return true;
      }
    }
    return false;
  }

  private static String describe(Status status) {
    String text = status.getDescription() == null ? "" : status.getDescription();
    Throwable cause = status.getCause();
    return status.getCode()
        + (text.isEmpty() ? "" : ", " + text)
        + (cause == null || cause.getMessage() == null ? "" : " (" + cause.getMessage() + ")");
  }
}
