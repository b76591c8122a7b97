package dev.baton.chaos;

import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;

/** Runs commands, and remembers what they print. */
final class Screen {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  /** Returns the code to exit with. */
  int run(Path directory, Map<String, String> environment, String... args) {
    Terminal terminal =
        new Terminal(
            new PrintWriter(out),
            new PrintWriter(err),
            false,
            false,
            100,
            InstantSource.system(),
            ZoneOffset.UTC);
    return ChaosMain.run(new Context(terminal, environment, directory), args);
  }

  String out() {
    return out.toString();
  }

  String err() {
    return err.toString();
  }
}
