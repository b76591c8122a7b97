package dev.baton.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.HistoryReader;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.ZoneOffset;
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
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Terminal terminal =
        new Terminal(
            new PrintWriter(out),
            new PrintWriter(err),
            false,
            false,
            100,
            InstantSource.system(),
            ZoneOffset.UTC);
    Context context = new Context(terminal, environment, FOLDER);

    int code = ChaosMain.run(context, "run", "smoke", "-o", "json");

    String all = out + "\n" + err;
    assertEquals(0, code, all);
    JsonNode json = JsonMapper.builder().build().readTree(out.toString());
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
