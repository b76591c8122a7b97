package dev.baton.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * What the shell tasks of one test share: the file that their commands write to, and a gate that
 * holds them until the test opens it.
 *
 * <p>The gate is a lock on a file that a child process holds, so that hundreds of tasks wait
 * without using a CPU, and go on if this process dies.
 */
final class Scene implements AutoCloseable {
  private static final String MARK =
      """
      mark() { echo "$1 $BATON_RUN $BATON_TASK $BATON_ATTEMPT $(date +%s%N)" >> "$LEDGER"; }
      """;

  private final Path ledger;
  private final Path gate;
  private final Process holder;

  private Scene(Path ledger, Path gate, Process holder) {
    this.ledger = ledger;
    this.gate = gate;
    this.holder = holder;
  }

  /** A fresh scene whose gate is closed. */
  static Scene in(Path folder) {
    try {
      Files.createDirectories(folder);
      Path here = Files.createTempDirectory(folder.toAbsolutePath(), "scene-");
      Path gate = Files.createFile(here.resolve("gate"));
      Process holder =
          new ProcessBuilder("flock", "-x", gate.toString(), "sh", "-c", "echo closed; exec cat")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      BufferedReader words =
          new BufferedReader(
              new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8));
      if (!"closed".equals(words.readLine())) {
        throw new IllegalStateException("Expected flock (util-linux) to hold " + gate + ".");
      }
      return new Scene(here.resolve("ledger"), gate, holder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the commands need in their environment. */
  Map<String, String> env() {
    return Map.of("LEDGER", ledger.toString(), "GATE", gate.toString());
  }

  /** A command that notes its start, does what it should, and notes its end. */
  static String noted(String body) {
    return MARK + "mark S\n" + body + "\nmark E\n";
  }

  /** A command that notes its start, waits for the gate, and notes its end. */
  static String gated() {
    return noted("exec 9< \"$GATE\"; flock -s 9; exec 9<&-");
  }

  /** A command that fails in its first attempts, each noted, and succeeds in the one after them. */
  static String failing(int attempts) {
    return MARK
        + "mark S\nif [ \"$BATON_ATTEMPT\" -le "
        + attempts
        + " ]; then mark F; exit 7; fi\nmark E\n";
  }

  Ledger ledger() {
    return Ledger.read(ledger);
  }

  /** Lets everything that waits, and all that comes, go on. */
  void openGate() {
    try {
      holder.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    openGate();
  }
}
