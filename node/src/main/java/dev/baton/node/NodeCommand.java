package dev.baton.node;

import dev.baton.node.Schema.Setting;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The command line of a node: {@code --config FILE}, {@code --set path=value}, the flags that
 * settings have, {@code --print-config}, {@code --help}.
 */
final class NodeCommand<T extends Record> {
  private static final String CONFIG = "--config";
  private static final String SET = "--set";
  private static final String PRINT = "--print-config";
  private static final String HELP = "--help";

  private final Class<T> type;
  private final Schema schema;
  private final CommandSpec spec;

  NodeCommand(String name, Class<T> type) {
    this.type = type;
    this.schema = new Schema(type);
    this.spec = CommandSpec.create().name("baton " + name);
    addOption(CONFIG, "FILE", "YAML file with settings", Path.class);
    addOption(SET, "PATH=VALUE", "a setting, over the file and the environment", String[].class);
    addOption(PRINT, "", "print all settings with their origins, and end", boolean.class);
    addOption(HELP, "", "print this, and end", boolean.class);
    for (Setting setting : schema.settings()) {
      if (setting.flag() != null) {
        boolean onOff = setting.type() == boolean.class;
        addOption(
            setting.flag().value(),
            onOff ? "" : "VALUE",
            setting.flag().help(),
            onOff ? boolean.class : String.class);
      }
    }
  }

  private void addOption(String name, String label, String help, Class<?> type) {
    spec.addOption(
        OptionSpec.builder(name)
            .type(type)
            .paramLabel(label)
            .description(help.replace("%", "%%"))
            .build());
  }

  /** The settings; empty if only help or the settings were asked for, which then were printed. */
  Optional<T> read(String[] args, Map<String, String> environment, PrintStream out) {
    ParseResult parsed = parse(args);
    if (parsed.hasMatchedOption(HELP)) {
      out.print(help());
      return Optional.empty();
    }
    Path file = parsed.matchedOptionValue(CONFIG, null);
    Configuration<T> configuration =
        Configuration.read(type, new Sources(file, environment, commandLine(parsed)));
    if (parsed.hasMatchedOption(PRINT)) {
      out.print(configuration.effective());
      return Optional.empty();
    }
    return Optional.of(configuration.settings());
  }

  private ParseResult parse(String[] args) {
    try {
      return new CommandLine(spec).parseArgs(args);
    } catch (ParameterException e) {
      throw new ExitException(
          ExitCode.USAGE,
          "%s; '%s --help' lists the flags".formatted(e.getMessage(), spec.name()),
          e);
    }
  }

  private Map<String, String> commandLine(ParseResult parsed) {
    Map<String, String> values = new HashMap<>();
    for (String assignment : parsed.matchedOptionValue(SET, new String[0])) {
      int equals = assignment.indexOf('=');
      if (equals < 1) {
        throw new ExitException(
            ExitCode.USAGE, "--set needs path=value, but got '%s'".formatted(assignment));
      }
      values.put(assignment.substring(0, equals), assignment.substring(equals + 1));
    }
    for (Setting setting : schema.settings()) {
      if (setting.flag() != null && parsed.hasMatchedOption(setting.flag().value())) {
        values.put(
            setting.path(), String.valueOf(parsed.matchedOptionValue(setting.flag().value(), "")));
      }
    }
    return values;
  }

  private String help() {
    StringBuilder text = new StringBuilder(new CommandLine(spec).getUsageMessage());
    text.append(
        "\nSettings: in the file (a dot is a level), as a variable, or by --set path=value\n");
    for (Setting setting : schema.settings()) {
      String fallback =
          setting.fallback() != null
              ? "default " + (setting.fallback().isEmpty() ? "none" : setting.fallback())
              : setting.nullable() || setting.shape() == Schema.Shape.MAP ? "" : "must be given";
      text.append(
              "  %-28s %-38s %s"
                  .formatted(setting.path(), setting.variable(), fallback)
                  .stripTrailing())
          .append('\n');
    }
    return text.toString();
  }
}
