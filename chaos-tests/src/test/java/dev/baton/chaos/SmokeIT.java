package dev.baton.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.HistoryReader;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.ProcessChanged;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** {@code baton chaos run smoke}, as users run it: real processes, two minutes. */
class SmokeIT {
  private static final Path FOLDER = Path.of("target", "it").toAbsolutePath();

  @Test
  void losesAndDoublesNothingWhenALeaderAndAWorkerAreKilledAndALeaderResigns() throws IOException {
    Files.createDirectories(FOLDER);
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("BATON_DIR", FOLDER.toString());
    environment.put("BATON_HOME", Path.of("..").toRealPath().toString());
    Screen screen = new Screen();

    int code = screen.run(FOLDER, environment, "run", "smoke", "-o", "json");

    String all = screen.out() + "\n" + screen.err();
    assertEquals(0, code, all);
    JsonNode json = JsonMapper.builder().build().readTree(screen.out());
    assertEquals("valid", json.path("verdict").asText(), all);
    assertEquals(3, json.path("rounds").asInt(), all);
    assertEquals(0, json.path("lost").asInt(), all);
    assertEquals(0, json.path("rerunsOfFinishedTasks").asInt(), all);
    assertEquals(2, json.path("failoverMs").path("count").asInt(), all);
    assertTrue(json.path("runsSubmitted").asInt() > 500, all);
    assertEquals(json.path("runsSubmitted"), json.path("runsEnded"), all);
    assertThatFaultsReallyHappened(Path.of(json.path("reportPath").asText()));
  }

  private static void assertThatFaultsReallyHappened(Path report) throws IOException {
    JsonNode rounds =
        JsonMapper.builder()
            .build()
            .readTree(report.resolve("verdict.json").toFile())
            .path("roundDetails");
    assertEquals(
        List.of("kill-leader", "kill-worker", "terminate-leader"),
        StreamSupport.stream(rounds.spliterator(), false)
            .map(round -> round.path("fault").asText())
            .toList());
    History history = HistoryReader.read(report.resolve("history.jsonl"));
    List<ProcessChanged> changes = history.each(ProcessChanged.class);
    assertEquals(2, count(changes, Change.KILLED), changes.toString());
    assertEquals(1, count(changes, Change.TERMINATED), changes.toString());
    assertTrue(Files.size(report.resolve("logs").resolve("s1.log")) > 0);
    assertTrue(Files.readString(report.resolve("index.html")).contains("terminate-leader"));
  }

  private static long count(List<ProcessChanged> changes, Change change) {
    return changes.stream().filter(each -> each.change() == change).count();
  }
}
