package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * {@code baton conformance} passes workers that keep the rules, and names those that others break.
 */
class ConformanceIT {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** The rules that a worker breaks, with the evidence; and the code that it exits with. */
  private record Report(int code, Map<String, String> broken, Set<String> unknown) {}

  private static Report judge(String worker) {
    try {
      Process process =
          new ProcessBuilder(NodeCommands.baton("conformance", "--worker", worker, "-o", "json"))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      JsonNode report;
      try (InputStream out = process.getInputStream()) {
        report = JSON.readTree(out);
      }
      Map<String, String> broken = new TreeMap<>();
      Set<String> unknown = new TreeSet<>();
      for (JsonNode rule : report.path("rules")) {
        String name = rule.path("rule").asText();
        switch (rule.path("verdict").asText()) {
          case "broken" -> broken.put(name, rule.path("evidence").asText());
          case "unknown" -> unknown.add(name);
          default -> {}
        }
      }
      return new Report(process.waitFor(), broken, unknown);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Each takes a minute, most of which it waits. */
  private static Map<String, Report> judgeAtOnce(Map<String, String> workers) {
    Map<String, CompletableFuture<Report>> judged = new TreeMap<>();
    workers.forEach((name, command) ->
        judged.put(
            name,
            CompletableFuture.supplyAsync(
                () -> judge(command), task -> Thread.ofVirtual().start(task))));
    Map<String, Report> reports = new TreeMap<>();
    judged.forEach((name, report) -> reports.put(name, report.join()));
    return reports;
  }

  @Test
  void passesWorkersThatKeepTheRulesAndNamesThoseThatOthersBreak() {
    Map<String, Report> reports =
        judgeAtOnce(
            Map.of(
                "go", String.join(" ", ForeignWorkers.go("{id}", "{schedulers}")),
                "python", String.join(" ", ForeignWorkers.python("{id}", "{schedulers}")),
                "forgetful", ForeignWorkers.wrong("forgetful"),
                "credulous", ForeignWorkers.wrong("credulous"),
                "greedy", ForeignWorkers.wrong("greedy")));
    Report passed = new Report(0, Map.of(), Set.of());
    assertEquals(passed, reports.get("go"));
    assertEquals(passed, reports.get("python"));
    assertBroken(Set.of("keeps-results"), reports.get("forgetful"));
    assertBroken(
        Set.of(
            "drops-other-incarnations",
            "drops-other-generations",
            "drops-older-terms",
            "drops-a-second-leader"),
        reports.get("credulous"));
    assertBroken(Set.of("returns-what-has-no-slot"), reports.get("greedy"));
  }

  private static void assertBroken(Set<String> rules, @Nullable Report report) {
    if (report == null) {
      throw new AssertionError("It was not judged");
    }
    assertEquals(1, report.code());
    assertTrue(report.broken().keySet().containsAll(rules), () -> "broken are " + report.broken());
  }

  @Test
  void tellsOfAWorkerThatDoesNotEvenStart() {
    Report report = judge("exit 3");
    assertEquals(1, report.code());
    assertEquals(Map.of("registers", "it has ended, with 3"), report.broken());
    assertEquals(26, report.unknown().size());
  }
}
