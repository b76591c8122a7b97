package dev.baton.chaos.history;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * Appends observations of all threads to {@code history.jsonl}, in the order in which they come.
 */
public final class HistoryWriter implements Consumer<Observation>, AutoCloseable {
  private final ObjectWriter json = JsonMapper.builder().build().writerFor(Observation.class);
  private final Path file;
  // Guarded by this.
  private final Writer out;
  private boolean closed;

  public HistoryWriter(Path file) {
    this.file = file;
    try {
      out = Files.newBufferedWriter(file);
    } catch (IOException e) {
      throw new UncheckedIOException("The history " + file + " cannot be written", e);
    }
  }

  /** What comes after the end is dropped: a callback that was late. */
  @Override
  public void accept(Observation observation) {
    try {
      String line = json.writeValueAsString(observation) + "\n";
      synchronized (this) {
        if (!closed) {
          out.write(line);
        }
      }
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException("The history " + file + " cannot be written", e);
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    try {
      out.close();
    } catch (IOException e) {
      throw new UncheckedIOException("The history " + file + " cannot be written", e);
    }
  }
}
