package dev.baton.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChaosMainTest {
  @TempDir private Path folder = Path.of("");
  private final Screen screen = new Screen();

  private int run(String... args) {
    return screen.run(folder, Map.of(), args);
  }

  @Test
  void shouldListScenarios() {
    assertEquals(0, run("list", "-o", "json"));
    assertTrue(screen.out().contains("\"name\" : \"smoke\""), screen.out());
  }

  @Test
  void shouldSayInASentenceWhatIsWrong() {
    assertEquals(2, run("run", "nonsense"));
    assertTrue(
        screen.err().startsWith("baton chaos run: there is no scenario 'nonsense': it is all, "),
        screen.err());
    assertEquals(2, run("run", "smoke", "--rounds", "0"));
    assertTrue(screen.err().contains("--rounds is 1 to 10000, but got 0"), screen.err());
    assertEquals(2, run("run", "smoke", "--duration", "ten"));
    assertTrue(screen.err().contains("such as 500ms, 30s, 5m, 1h or 7d"), screen.err());
    assertEquals(2, run("run", "smoke", "--env", "moon"));
    assertEquals(2, run("judge", "nowhere"));
    assertTrue(screen.err().contains("there is no history in nowhere"), screen.err());
    assertEquals(2, run());
    assertEquals("", screen.out());
  }

  @Test
  void shouldShowExamples() {
    assertEquals(0, run("run", "--help"));
    assertTrue(screen.out().contains("baton chaos run mixed --seed 7"), screen.out());
  }

  /** Nothing is started for it, and it is no failure. */
  @Test
  void shouldSkipWhatTheEnvironmentCanNotDo() {
    assertEquals(0, run("run", "partition-etcd-leader", "-o", "json"), screen.err());
    assertTrue(screen.out().contains("\"verdict\" : \"skipped\""), screen.out());
    assertTrue(screen.out().contains("--env netns can cut them off"), screen.out());
    assertFalse(screen.err().contains("starting:"), screen.err());
  }
}
