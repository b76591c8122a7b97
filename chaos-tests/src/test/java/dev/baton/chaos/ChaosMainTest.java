package dev.baton.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChaosMainTest {
  @TempDir private Path folder = Path.of("");
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    Terminal terminal =
        new Terminal(
            new PrintWriter(out),
            new PrintWriter(err),
            false,
            false,
            100,
            InstantSource.system(),
            ZoneOffset.UTC);
    Context context = new Context(terminal, Map.of(), folder);
    return ChaosMain.run(context, args);
  }

  @Test
  void shouldListScenarios() {
    assertEquals(0, run("list", "-o", "json"));
    assertTrue(out.toString().contains("\"name\" : \"smoke\""), out.toString());
  }

  @Test
  void shouldSayInASentenceWhatIsWrong() {
    assertEquals(2, run("run", "nonsense"));
    assertTrue(
        err.toString().startsWith("baton chaos run: there is no scenario 'nonsense': it is all, "),
        err.toString());
    assertEquals(2, run("run", "smoke", "--rounds", "0"));
    assertTrue(err.toString().contains("--rounds is 1 to 10000, but got 0"), err.toString());
    assertEquals(2, run("run", "smoke", "--duration", "ten"));
    assertTrue(err.toString().contains("such as 500ms, 30s, 5m, 1h or 7d"), err.toString());
    assertEquals(2, run("run", "smoke", "--env", "moon"));
    assertEquals(2, run("judge", "nowhere"));
    assertTrue(err.toString().contains("there is no history in nowhere"), err.toString());
    assertEquals(2, run());
    assertEquals("", out.toString());
  }

  @Test
  void shouldShowExamples() {
    assertEquals(0, run("run", "--help"));
    assertTrue(out.toString().contains("baton chaos run mixed --seed 7"), out.toString());
  }

  /** Nothing is started for it, and it is no failure. */
  @Test
  void shouldSkipWhatTheEnvironmentCanNotDo() {
    assertEquals(0, run("run", "partition-etcd-leader", "-o", "json"), err.toString());
    assertTrue(out.toString().contains("\"verdict\" : \"skipped\""), out.toString());
    assertTrue(out.toString().contains("--env netns can cut them off"), out.toString());
    assertFalse(err.toString().contains("starting:"), err.toString());
  }
}
