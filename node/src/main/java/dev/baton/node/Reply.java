package dev.baton.node;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** What the HTTP port answers: always text, in UTF-8. */
public record Reply(int status, String contentType, String body) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** An object of texts, numbers, booleans, lists and maps. */
  public static Reply json(int status, Map<String, ?> body) {
    try {
      return new Reply(status, "application/json", JSON.writeValueAsString(body));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("the body of a reply can't be written as JSON", e);
    }
  }

  static Reply error(int status, String sentence) {
    return json(status, Map.of("error", sentence));
  }
}
