package dev.baton.cli.program;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Where a command prints.
 *
 * @param interactive somebody looks at stdout: progress may be redrawn
 * @param colour escape sequences are welcome
 * @param width columns of the screen
 * @param clock for "3 s ago"
 */
public record Terminal(
    PrintWriter out,
    PrintWriter err,
    boolean interactive,
    boolean colour,
    int width,
    InstantSource clock,
    ZoneId zone) {
  private static final int DEFAULT_WIDTH = 100;
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** How a piece of text looks. */
  public enum Style {
    PLAIN(""),
    BOLD("1"),
    DIM("2"),
    RED("31"),
    GREEN("32"),
    YELLOW("33"),
    CYAN("36");

    private final String sequence;

    Style(String sequence) {
      this.sequence = sequence;
    }
  }

  /** The terminal of this process. */
  public static Terminal ofProcess(Map<String, String> environment) {
    boolean interactive = isTerminal() && !"dumb".equals(environment.get("TERM"));
    String noColour = environment.getOrDefault("NO_COLOR", "");
    return new Terminal(
        writer(FileDescriptor.out),
        writer(FileDescriptor.err),
        interactive,
        interactive && noColour.isEmpty(),
        interactive ? width(environment) : DEFAULT_WIDTH,
        InstantSource.system(),
        ZoneId.systemDefault());
  }

  public String style(Style style, String text) {
    return colour && style != Style.PLAIN
        ? "\033[" + style.sequence + "m" + text + "\033[0m"
        : text;
  }

  /** A line of data. */
  public void println(String line) {
    out.println(line);
    out.flush();
  }

  /** One document, over several lines. */
  public void print(JsonNode document) {
    try {
      println(
          JSON.writer(
                  new DefaultPrettyPrinter().withObjectIndenter(new DefaultIndenter("  ", "\n")))
              .writeValueAsString(document));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A remark that is no data: it must not end up in a pipe. */
  public void remark(String line) {
    err.println(line);
    err.flush();
  }

  /** Standard output, asked by what it is connected to: a console of Java means both ends. */
  private static boolean isTerminal() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  private static int width(Map<String, String> environment) {
    try {
      String columns = environment.getOrDefault("COLUMNS", "");
      if (columns.isEmpty()) {
        Process stty =
            new ProcessBuilder("stty", "size")
                .redirectInput(Path.of("/dev/tty").toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (stty.waitFor(1, TimeUnit.SECONDS)) {
          String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
          columns = size.strip().replaceFirst(".* ", "");
        }
      }
      int width = Integer.parseInt(columns);
      return width < 40 ? DEFAULT_WIDTH : width;
    } catch (IOException | NumberFormatException e) {
      return DEFAULT_WIDTH;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return DEFAULT_WIDTH;
    }
  }

  private static PrintWriter writer(FileDescriptor descriptor) {
    return new PrintWriter(
        new OutputStreamWriter(new FileOutputStream(descriptor), StandardCharsets.UTF_8));
  }
}
