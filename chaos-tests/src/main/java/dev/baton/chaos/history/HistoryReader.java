package dev.baton.chaos.history;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads a {@code history.jsonl}. A last line that was not finished is left out. */
public final class HistoryReader {
  private HistoryReader() {}

  /**
   * Reads a whole file.
   *
   * @throws IOException with a sentence that names the line, if it cannot be understood
   */
  public static History read(Path file) throws IOException {
    ObjectReader json =
        JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build()
            .readerFor(Observation.class);
    List<Observation> all = new ArrayList<>();
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      String line = reader.readLine();
      for (int number = 1; line != null; number++) {
        String next = reader.readLine();
        try {
          all.add(json.readValue(line));
        } catch (JsonProcessingException e) {
          if (next != null) {
            throw new IOException(
                "line " + number + " of " + file + " is no observation: " + e.getOriginalMessage(),
                e);
          }
        }
        line = next;
      }
    }
    return History.of(all);
  }
}
