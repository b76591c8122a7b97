package dev.baton.cli;

import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Map;

/** What came of one command. */
record CommandRun(int code, String out, String err) {
  /** The moment at which the commands of the tests run. */
  static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  static CommandRun of(Path directory, Map<String, String> environment, String... args) {
    return of(directory, environment, false, args);
  }

  static CommandRun of(
      Path directory, Map<String, String> environment, boolean interactive, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Terminal terminal =
        new Terminal(
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            interactive,
            interactive,
            100,
            InstantSource.fixed(NOW),
            ZoneOffset.UTC);
    int code = Main.run(new Context(terminal, environment, directory), args);
    return new CommandRun(code, out.toString(), err.toString());
  }
}
