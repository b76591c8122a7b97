package dev.baton.chaos.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Finished;
import dev.baton.chaos.history.Observation.Received;
import dev.baton.chaos.history.Observation.Started;
import dev.baton.chaos.history.Observation.Witnessed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TracesTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void shouldReadWholeLinesOnly() throws IOException {
    Path file = folder.resolve("w1.trace");
    Files.writeString(
        file,
        """
        A r a 1 5 7 100 1
        S r a 1 101 1
        E r a 1 10S r b 1 103 1
        E r a 1 102 1
        S r
        """);
    List<Observation> seen = new ArrayList<>();
    Traces.read("w1", file, seen::add);
    Traces.read("w2", folder.resolve("none"), seen::add);

    assertEquals(
        List.of(
            new Received(100, "w1", "r", "a", 1, 5, 7),
            new Started(101, "w1", "r", "a", 1),
            new Finished(102, "w1", "r", "a", 1)),
        seen);
  }

  @Test
  void shouldReadWhatCommandsWrote() throws IOException {
    Path file = folder.resolve("witness");
    Files.writeString(file, "r a 2 word\nr a\n");
    List<Observation> seen = new ArrayList<>();
    Traces.readWitness(file, seen::add);
    assertEquals(1, seen.size());
    Witnessed one = (Witnessed) seen.getFirst();
    assertEquals(new Witnessed(one.nanos(), "r", "a", 2, "word"), one);
  }
}
