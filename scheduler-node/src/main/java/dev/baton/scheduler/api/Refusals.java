package dev.baton.scheduler.api;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one table of refusals: what a caller sees of each, over gRPC and over HTTP. */
final class Refusals {
  private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);
  static final String DOMAIN = "baton.dev";

  private Refusals() {}

  static Status.Code grpc(RefusalCode code) {
    return switch (code) {
      case INVALID_DEFINITION, INVALID_PARAMETER, INVALID_REQUEST, TOO_LARGE ->
          Status.Code.INVALID_ARGUMENT;
      case KEY_CONFLICT -> Status.Code.ALREADY_EXISTS;
      case RUN_NOT_FOUND, TASK_NOT_FOUND, WORKER_NOT_FOUND, EXPIRED -> Status.Code.NOT_FOUND;
      case NO_OUTPUT, NO_WORKER -> Status.Code.FAILED_PRECONDITION;
      case OVERLOADED, STORE_FULL -> Status.Code.RESOURCE_EXHAUSTED;
      case NO_LEADER, NOT_READY -> Status.Code.UNAVAILABLE;
      case INTERNAL -> Status.Code.INTERNAL;
    };
  }

  static int http(RefusalCode code) {
    return switch (code) {
      case INVALID_DEFINITION, INVALID_PARAMETER, INVALID_REQUEST -> 400;
      case TOO_LARGE -> 413;
      case KEY_CONFLICT, NO_OUTPUT, NO_WORKER -> 409;
      case RUN_NOT_FOUND, TASK_NOT_FOUND, WORKER_NOT_FOUND -> 404;
      case EXPIRED -> 410;
      case OVERLOADED -> 429;
      case STORE_FULL, NO_LEADER, NOT_READY -> 503;
      case INTERNAL -> 500;
    };
  }

  /** What a caller gets. */
  static StatusRuntimeException exception(Refusal refusal) {
    com.google.rpc.Status.Builder status =
        com.google.rpc.Status.newBuilder()
            .setCode(grpc(refusal.code()).value())
            .setMessage(refusal.message())
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setReason(refusal.code().name())
                        .setDomain(DOMAIN)
                        .build()));
    if (!refusal.retryAfter().isZero()) {
      status.addDetails(
          Any.pack(
              RetryInfo.newBuilder()
                  .setRetryDelay(
                      com.google.protobuf.Duration.newBuilder()
                          .setSeconds(refusal.retryAfter().toSeconds())
                          .setNanos(refusal.retryAfter().toNanosPart()))
                  .build()));
    }
    return StatusProto.toStatusRuntimeException(status.build());
  }

  static Refusal expired(String what) {
    return new Refusal(RefusalCode.EXPIRED, what + " is gone: retention has dropped it.");
  }

  static Refusal unanswered() {
    return new Refusal(RefusalCode.INTERNAL, "A read came to no answer.");
  }

  static Refusal noEtcd(Throwable failure) {
    LOG.debug("A read of etcd failed", failure);
    return new Refusal(
        RefusalCode.NOT_READY,
        "etcd did not answer this node in time: try again.",
        Duration.ofMillis(500));
  }
}
