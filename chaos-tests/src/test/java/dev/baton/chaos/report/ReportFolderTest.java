package dev.baton.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.chaos.checker.Outcome;
import dev.baton.chaos.history.HistoryWriter;
import dev.baton.chaos.history.Observation.Began;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.Ended;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.history.Observation.Healed;
import dev.baton.chaos.history.Observation.Injected;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.chaos.history.Observation.Skipped;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportFolderTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void shouldWriteAVerdictAndAPageThatNeedsNothingElse() throws IOException {
    ReportFolder report = new ReportFolder(folder);
    try (HistoryWriter writer = new HistoryWriter(report.history())) {
      writer.accept(new Began(0, 0, "a <scenario>", 7, "process", "1", 40, 8));
      writer.accept(new LeaderChanged(1_000_000_000, 5, "s1"));
      writer.accept(
          new Injected(
              2_000_000_000, 1, "kill-leader", List.of("s1"), 5, Failover.FROM_INJECTION, 500));
      writer.accept(new ProcessChanged(2_000_000_001, "s1", Change.KILLED));
      writer.accept(new LeaderChanged(2_500_000_000L, 9, "s2"));
      writer.accept(new Healed(9_000_000_000L, 1, "kill-leader"));
      writer.accept(new Skipped(9_000_000_001L, "clock", "no library"));
      writer.accept(new Ended(10_000_000_000L));
    }

    assertEquals(Outcome.INVALID, report.judge().verdict());

    JsonNode verdict =
        JsonMapper.builder().build().readTree(folder.resolve("verdict.json").toFile());
    assertEquals("invalid", verdict.path("verdict").asText());
    assertEquals("no library", verdict.path("skipped").path(0).path("reason").asText());
    String page = Files.readString(folder.resolve("index.html"));
    assertTrue(page.contains("a &lt;scenario&gt;"));
    assertTrue(page.contains("nothing was assigned"));
    assertTrue(page.contains("skipped: no library"));
    assertTrue(page.contains("s2 leads in term 9 from 2.5 s"));
    assertFalse(page.contains("http"), "nothing is loaded from elsewhere");
    assertFalse(page.contains("%s") || page.contains("%d"), "every gap is filled");
  }
}
