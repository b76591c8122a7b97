package dev.baton.cli.program;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Option;

/** The options of every command. */
public final class Common {
  /** How data is printed. */
  enum Format {
    TEXT,
    JSON
  }

  @Option(
      names = {"-o", "--output-format"},
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "text (default) or json: one document with stable field names")
  private Format format = Format.TEXT;

  @SuppressWarnings("UnusedVariable") // picocli sets and reads it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this, and end")
  private boolean help;

  public boolean isJson() {
    return format == Format.JSON;
  }

  /** Prints a document if JSON was asked for, and tells whether it did. */
  public boolean printed(Context context, JsonNode document) {
    if (isJson()) {
      context.terminal().print(document);
    }
    return isJson();
  }
}
