package dev.baton.node;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Asks the process that holds an id whether it is there. */
public final class Incumbent {
  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http =
      HttpClient.newBuilder()
          // Or it asks for an upgrade, which the port takes for a body.
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(DEADLINE)
          .build();

  /**
   * True only if the HTTP port answers with this incarnation: another process may have got the
   * port. An address that is none is not there.
   */
  public CompletableFuture<Boolean> answers(String host, int port, String incarnation) {
    if (port <= 0 || port > 65535 || host.isBlank()) {
      return CompletableFuture.completedFuture(false);
    }
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + new HostPort(host, port) + "/healthz"))
            .timeout(DEADLINE)
            .build();
    return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
        .thenApply(response -> names(response.body(), incarnation));
  }

  private static boolean names(String body, String incarnation) {
    try {
      return JSON.readTree(body).path("incarnation").asText().equals(incarnation);
    } catch (JsonProcessingException e) {
      return false;
    }
  }
}
