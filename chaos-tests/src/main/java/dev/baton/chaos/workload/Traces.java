package dev.baton.chaos.workload;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Finished;
import dev.baton.chaos.history.Observation.Received;
import dev.baton.chaos.history.Observation.Started;
import dev.baton.chaos.history.Observation.Witnessed;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Reads what workers and commands wrote themselves into the history. */
public final class Traces {
  private Traces() {}

  /**
   * A worker's trace: {@code A run task attempt seq term nanos millis}, {@code S run task attempt
   * nanos millis}, {@code E …}. A line that a killed worker did not finish is left out.
   */
  public static void read(String worker, Path file, Consumer<Observation> journal) {
    eachLine(
        file,
        line -> {
          String[] fields = line.split(" ", -1);
          try {
            switch (fields[0] + fields.length) {
              case "A8" ->
                  journal.accept(
                      new Received(
                          Long.parseLong(fields[6]),
                          worker,
                          fields[1],
                          fields[2],
                          Integer.parseInt(fields[3]),
                          Long.parseUnsignedLong(fields[4]),
                          Long.parseLong(fields[5])));
              case "S6" ->
                  journal.accept(
                      new Started(
                          Long.parseLong(fields[4]),
                          worker,
                          fields[1],
                          fields[2],
                          Integer.parseInt(fields[3])));
              case "E6" ->
                  journal.accept(
                      new Finished(
                          Long.parseLong(fields[4]),
                          worker,
                          fields[1],
                          fields[2],
                          Integer.parseInt(fields[3])));
              default -> {
                // Not whole.
              }
            }
          } catch (NumberFormatException e) {
            // Not whole.
          }
        });
  }

  /** The file of commands: {@code run task attempt word}. */
  public static void readWitness(Path file, Consumer<Observation> journal) {
    long now = System.nanoTime();
    eachLine(
        file,
        line -> {
          String[] fields = line.split(" ", -1);
          if (fields.length == 4 && fields[2].matches("\\d{1,6}")) {
            journal.accept(
                new Witnessed(now, fields[0], fields[1], Integer.parseInt(fields[2]), fields[3]));
          }
        });
  }

  private static void eachLine(Path file, Consumer<String> reader) {
    if (!Files.exists(file)) {
      return;
    }
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        reader.accept(line);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The file " + file + " cannot be read", e);
    }
  }
}
