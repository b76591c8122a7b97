package dev.baton.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

class RefusalTest {
  @Test
  void shouldRepeatACallWhoseConnectionClosedAsItWasWritten() {
    Refusal refusal =
        Refusal.of(
            Status.UNKNOWN
                .withDescription("channel closed")
                .withCause(new ClosedChannelException())
                .asRuntimeException());
    assertEquals(Status.Code.UNAVAILABLE, refusal.status());
    assertTrue(refusal.mayRepeat());
    assertTrue(refusal.blamesNode());
  }

  @Test
  void shouldNotRepeatWhatANodeAnsweredWithoutAReason() {
    Refusal refusal = Refusal.of(Status.UNKNOWN.asRuntimeException());
    assertEquals(Status.Code.UNKNOWN, refusal.status());
    assertFalse(refusal.mayRepeat());
  }
}
