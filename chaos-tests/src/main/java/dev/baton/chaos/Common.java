package dev.baton.chaos;

import picocli.CommandLine.Option;

/** The options of every command. */
final class Common {
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

  boolean isJson() {
    return format == Format.JSON;
  }
}
