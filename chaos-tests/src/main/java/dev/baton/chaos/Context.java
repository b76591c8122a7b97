package dev.baton.chaos;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a command knows of the process that it runs in.
 *
 * @param directory where relative paths begin
 */
record Context(PrintWriter out, PrintWriter err, Map<String, String> environment, Path directory) {
  Context {
    environment = Map.copyOf(environment);
  }

  void println(String line) {
    out.println(line);
    out.flush();
  }

  /** Progress, which must not end up in a pipe. */
  void remark(String line) {
    err.println(line);
    err.flush();
  }
}
