package dev.baton.chaos.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.client.ClientOptions;
import dev.baton.client.Endpoint;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class OperationsTest {
  private final List<Observation> seen = Collections.synchronizedList(new ArrayList<>());
  private final Operations operations = new Operations(seen::add);

  private Result result() {
    return ((Returned) seen.getLast()).result();
  }

  @Test
  void shouldRecordWhatAnAnswerNames() {
    var unused =
        operations.record(
            Kind.SUBMIT, "r", answer -> answer, () -> CompletableFuture.completedFuture("other"));
    assertEquals(2, seen.size());
    assertEquals("other", ((Returned) seen.getLast()).run());
    assertEquals(Result.OK, result());
    assertEquals(0, operations.open());
  }

  /** Nobody listens: the call may as well have been done. */
  @Test
  void shouldCallATimeOutUnknown() {
    ClientOptions options =
        ClientOptions.of(List.of(new Endpoint("127.0.0.1", 1)))
            .withCallTimeout(Duration.ofMillis(300));
    try (BatonClient client = new BatonClient(options)) {
      var unused =
          operations.record(
              Kind.SUBMIT,
              "r",
              SubmitRunResponse::getRunId,
              () -> client.submitAsync(SubmitRunRequest.getDefaultInstance()));
      Awaitility.await().until(() -> seen.size() == 2);
      assertEquals(Result.UNKNOWN, result());
    }
  }

  @Test
  void shouldCallAnythingButARefusalUnknown() {
    assertEquals(Result.UNKNOWN, Operations.result(new IllegalStateException()));
    BatonException none = Operations.refusal(new IllegalStateException());
    assertEquals(null, none);
  }
}
