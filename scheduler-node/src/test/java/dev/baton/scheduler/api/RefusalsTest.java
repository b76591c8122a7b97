package dev.baton.scheduler.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of refusals, as users see it. */
class RefusalsTest {
  private record Seen(Code grpc, int http) {}

  private static final Map<RefusalCode, Seen> TABLE = new EnumMap<>(RefusalCode.class);

  static {
    TABLE.put(RefusalCode.INVALID_DEFINITION, new Seen(Code.INVALID_ARGUMENT, 400));
    TABLE.put(RefusalCode.INVALID_PARAMETER, new Seen(Code.INVALID_ARGUMENT, 400));
    TABLE.put(RefusalCode.INVALID_REQUEST, new Seen(Code.INVALID_ARGUMENT, 400));
    TABLE.put(RefusalCode.TOO_LARGE, new Seen(Code.INVALID_ARGUMENT, 413));
    TABLE.put(RefusalCode.KEY_CONFLICT, new Seen(Code.ALREADY_EXISTS, 409));
    TABLE.put(RefusalCode.RUN_NOT_FOUND, new Seen(Code.NOT_FOUND, 404));
    TABLE.put(RefusalCode.TASK_NOT_FOUND, new Seen(Code.NOT_FOUND, 404));
    TABLE.put(RefusalCode.NO_OUTPUT, new Seen(Code.FAILED_PRECONDITION, 409));
    TABLE.put(RefusalCode.EXPIRED, new Seen(Code.NOT_FOUND, 410));
    TABLE.put(RefusalCode.NO_WORKER, new Seen(Code.FAILED_PRECONDITION, 409));
    TABLE.put(RefusalCode.OVERLOADED, new Seen(Code.RESOURCE_EXHAUSTED, 429));
    TABLE.put(RefusalCode.STORE_FULL, new Seen(Code.RESOURCE_EXHAUSTED, 503));
    TABLE.put(RefusalCode.NO_LEADER, new Seen(Code.UNAVAILABLE, 503));
    TABLE.put(RefusalCode.NOT_READY, new Seen(Code.UNAVAILABLE, 503));
    TABLE.put(RefusalCode.WORKER_NOT_FOUND, new Seen(Code.NOT_FOUND, 404));
    TABLE.put(RefusalCode.INTERNAL, new Seen(Code.INTERNAL, 500));
  }

  @ParameterizedTest
  @EnumSource(RefusalCode.class)
  void shouldShowEveryRefusalWithItsStatusAndItsStableName(RefusalCode code)
      throws InvalidProtocolBufferException {
    Seen seen = Objects.requireNonNull(TABLE.get(code), "a row of the table");
    assertEquals(seen.http(), Refusals.http(code));
    StatusRuntimeException shown = Refusals.exception(new Refusal(code, "A sentence."));
    assertEquals(seen.grpc(), shown.getStatus().getCode());
    assertEquals("A sentence.", shown.getStatus().getDescription());
    var status = Objects.requireNonNull(StatusProto.fromThrowable(shown));
    assertEquals(1, status.getDetailsCount());
    ErrorInfo info = status.getDetails(0).unpack(ErrorInfo.class);
    assertEquals(code.name(), info.getReason());
    assertEquals("baton.dev", info.getDomain());
    assertNotNull(dev.baton.proto.v1.RefusalCode.valueOf(code.name()), "it is in the contract");
  }

  @Test
  void shouldSayWhenToTryAgain() throws InvalidProtocolBufferException {
    StatusRuntimeException shown =
        Refusals.exception(new Refusal(RefusalCode.OVERLOADED, "Later.", Duration.ofMillis(1_500)));
    var status = Objects.requireNonNull(StatusProto.fromThrowable(shown));
    Any detail = status.getDetails(1);
    assertTrue(detail.is(RetryInfo.class));
    RetryInfo retry = detail.unpack(RetryInfo.class);
    assertEquals(1, retry.getRetryDelay().getSeconds());
    assertEquals(500_000_000, retry.getRetryDelay().getNanos());
  }

  @Test
  void shouldHaveARowForEveryCodeOfTheContract() {
    for (dev.baton.proto.v1.RefusalCode code : dev.baton.proto.v1.RefusalCode.values()) {
      boolean isReal =
          code != dev.baton.proto.v1.RefusalCode.UNRECOGNIZED
              && code != dev.baton.proto.v1.RefusalCode.REFUSAL_CODE_UNSPECIFIED;
      if (isReal) {
        assertNotNull(RefusalCode.valueOf(code.name()));
      }
    }
    assertFalse(TABLE.isEmpty());
  }
}
