package dev.baton.chaos.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.history.Observation.Injected;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.chaos.history.Observation.RunRead;
import dev.baton.chaos.history.Observation.TaskRead;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryFileTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void shouldReadWhatWasWritten() throws IOException {
    List<Observation> written =
        List.of(
            new LeaderChanged(1, 100, "s1"),
            new Injected(2, 1, "kill-leader", List.of("s1"), 100, Failover.FROM_INJECTION, 2000),
            new ProcessChanged(3, "s1", Change.KILLED),
            new RunRead(
                4,
                "r",
                true,
                RunRead.SUCCESS,
                List.of(new TaskRead("a", "TASK_SUCCESS", List.of(), "{}", 1))));
    Path file = folder.resolve("history.jsonl");
    try (HistoryWriter writer = new HistoryWriter(file)) {
      written.forEach(writer);
    }
    Files.writeString(file, "{\"type\":\"leader\",\"nan", StandardOpenOption.APPEND);

    assertEquals(written, HistoryReader.read(file).each(Observation.class));
  }

  @Test
  void shouldNameALineThatIsNone() throws IOException {
    Path file = folder.resolve("history.jsonl");
    Files.writeString(
        file, "{\"type\":\"ended\",\"nanos\":1}\nx\n{\"type\":\"ended\",\"nanos\":1}\n");
    IOException failure = assertThrows(IOException.class, () -> HistoryReader.read(file));
    assertTrue(String.valueOf(failure.getMessage()).startsWith("line 2 of "), failure.getMessage());
  }
}
