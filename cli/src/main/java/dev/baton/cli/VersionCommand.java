package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Says which Baton this is. */
@Command(
    name = "version",
    header = "Print the version of Baton and of the JVM.",
    footerHeading = "%nExamples:%n",
    footer = {"  baton version", "  baton version -o json | jq -r .version"})
final class VersionCommand implements Callable<Integer> {
  private static final String RESOURCE = "version.properties";

  private final Context context;

  @Mixin private final Common common = new Common();

  VersionCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    ObjectNode json = Json.object();
    json.put("version", version());
    json.put("java", Runtime.version().toString());
    if (!common.printed(context, json)) {
      context.terminal().println("baton " + version() + " (Java " + Runtime.version() + ")");
    }
    return ExitCode.OK.number();
  }

  static String version() {
    Properties properties = new Properties();
    try (InputStream in = VersionCommand.class.getResourceAsStream(RESOURCE)) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new IllegalStateException("Expected " + RESOURCE + " in the jar of the CLI.", e);
    }
    return properties.getProperty("version", "unknown");
  }
}
