package dev.baton.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.baton.proto.v1.RefusalCode;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a failed try says.
 *
 * @param code unspecified when the failure is not a node's word, such as a broken connection
 */
record Refusal(Code status, RefusalCode code, String message, @Nullable Duration retryAfter) {
  private static final String DOMAIN = "baton.dev";

  static Refusal of(Throwable failure) {
    Status status = Status.fromThrowable(failure);
    if (status.getCode() == Code.UNKNOWN && status.getCause() instanceof IOException) {
      // What gRPC makes of a connection that closes while a call is being written.
      status = Status.UNAVAILABLE.withCause(status.getCause());
    }
    RefusalCode code = RefusalCode.REFUSAL_CODE_UNSPECIFIED;
    Duration retryAfter = null;
    com.google.rpc.Status details = StatusProto.fromThrowable(failure);
    if (details != null) {
      for (Any detail : details.getDetailsList()) {
        try {
          if (detail.is(ErrorInfo.class)) {
            code = codeOf(detail.unpack(ErrorInfo.class));
          } else if (detail.is(RetryInfo.class)) {
            com.google.protobuf.Duration delay = detail.unpack(RetryInfo.class).getRetryDelay();
            retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
          }
        } catch (InvalidProtocolBufferException e) {
          // A detail that cannot be read says nothing; the status still does.
        }
      }
    }
    String message = status.getDescription();
    Throwable cause = status.getCause();
    if (code == RefusalCode.REFUSAL_CODE_UNSPECIFIED && cause != null) {
      message = innermost(cause);
    } else if (code == RefusalCode.REFUSAL_CODE_UNSPECIFIED && status.getCode() == Code.CANCELLED) {
      message = "the node ended the call";
    }
    return new Refusal(
        status.getCode(), code, message == null ? status.getCode().name() : message, retryAfter);
  }

  /**
   * Whether the same call may be sent again. Every call of the API is idempotent, so it is where
   * the answer was lost or the node could not give one (CANCELLED is how a node that shuts down
   * ends its calls); INTERNAL is a fault that would walk from node to node.
   */
  boolean mayRepeat() {
    return switch (status) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> code != RefusalCode.INTERNAL;
      case RESOURCE_EXHAUSTED -> retryAfter != null;
      default -> false;
    };
  }

  /** Whether another node should get the next try. */
  boolean blamesNode() {
    return switch (status) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> true;
      default -> false;
    };
  }

  BatonException toException(@Nullable Throwable cause) {
    return new BatonException(code, status, message, retryAfter, cause);
  }

  private static RefusalCode codeOf(ErrorInfo info) {
    if (!info.getDomain().equals(DOMAIN)) {
      return RefusalCode.REFUSAL_CODE_UNSPECIFIED;
    }
    try {
      return RefusalCode.valueOf(info.getReason());
    } catch (IllegalArgumentException e) {
      // A newer node's code: its status and text have to do.
      return RefusalCode.REFUSAL_CODE_UNSPECIFIED;
    }
  }

  private static String innermost(Throwable failure) {
    Throwable at = failure;
    while (at.getCause() != null) {
      at = at.getCause();
    }
    return at.getMessage() == null ? at.getClass().getSimpleName() : at.getMessage();
  }
}
