package dev.baton.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The example workers in other languages, built by their own scripts where their toolchains are.
 */
final class ForeignWorkers {
  private static final Path EXAMPLES = Path.of("..", "examples", "workers");
  private static final Path BUILT = Path.of("target", "workers");
  private static final long BUILD_MINUTES = 5;

  /** What a script exits with where its toolchain or the libraries are not to be had. */
  private static final int ABSENT = 8;

  private ForeignWorkers() {}

  /**
   * Counts words. The test is skipped where Python or the packages that it needs are not to be had.
   */
  static List<String> python(String id, String schedulers) {
    Path built = built("python");
    return List.of(
        built.resolve("bin/python").toString(),
        EXAMPLES.resolve("python/text_worker.py").toString(),
        "--id",
        id,
        "--scheduler",
        schedulers);
  }

  /** Finds nearest neighbours. The test is skipped where Go or protoc are not to be had. */
  static List<String> go(String id, String schedulers) {
    return List.of(
        built("go").resolve("search-worker").toString(), "--id", id, "--scheduler", schedulers);
  }

  /** One that breaks rules in a way that has this name. */
  static String wrong(String mode) {
    return "PYTHONPATH="
        + EXAMPLES.resolve("python").toAbsolutePath()
        + " "
        + built("python").resolve("bin/python")
        + " "
        + Path.of("src", "test", "python", "wrong_worker.py").toAbsolutePath()
        + " "
        + mode
        + " {schedulers} {id}";
  }

  private static Path built(String language) {
    Path built = BUILT.resolve(language).toAbsolutePath();
    try {
      Files.createDirectories(BUILT);
      Process setup =
          new ProcessBuilder(
                  EXAMPLES.resolve(language).resolve("setup").toString(), built.toString())
              .redirectErrorStream(true)
              .redirectOutput(BUILT.resolve(language + ".log").toFile())
              .start();
      boolean ended = setup.waitFor(BUILD_MINUTES, TimeUnit.MINUTES);
      if (!ended) {
        setup.descendants().forEach(ProcessHandle::destroyForcibly);
        setup.destroyForcibly();
      }
      assumeTrue(ended && setup.exitValue() != ABSENT, "absent: " + language);
      assertEquals(0, setup.exitValue(), "the worker does not build: " + language + ".log");
      return built;
    } catch (IOException e) {
      throw new AssertionError("The script that builds the worker does not start", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
