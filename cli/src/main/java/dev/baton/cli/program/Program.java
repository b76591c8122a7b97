package dev.baton.cli.program;

import dev.baton.client.BatonException;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Runs one command of a table of commands; a failure becomes a sentence and an exit code. */
public final class Program {
  private static final String DEBUG = "BATON_DEBUG";
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  private final Context context;
  private final String whenUnreachable;

  /**
   * @param whenUnreachable what to do when no scheduler answers
   */
  public Program(Context context, String whenUnreachable) {
    this.context = context;
    this.whenUnreachable = whenUnreachable;
  }

  /** Returns the code to exit with. */
  public int run(CommandLine commands, String... args) {
    commands
        .registerConverter(Duration.class, Program::duration)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpWidth(Math.clamp(context.terminal().width(), 80, 110))
        .setUsageHelpAutoWidth(false)
        .setColorScheme(
            new ColorScheme.Builder(
                    CommandLine.Help.defaultColorScheme(
                        context.terminal().colour() ? Ansi.ON : Ansi.OFF))
                .build())
        .setOut(context.terminal().out())
        .setErr(context.terminal().err())
        .setParameterExceptionHandler((failure, unused) -> misused(failure))
        .setExecutionExceptionHandler(
            (failure, command, unused) -> failed(command.getCommandSpec(), failure));
    commands.getCommandSpec().usageMessage().exitCodeList(exitCodes());
    int code = commands.execute(args);
    context.terminal().out().flush();
    context.terminal().err().flush();
    return code;
  }

  /** Reads {@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}, {@code 7d}. */
  static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text.strip());
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "Expected a duration such as 500ms, 30s, 5m, 1h or 7d, but got '" + text + "'.");
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      default -> Duration.ofDays(number);
    };
  }

  private int misused(ParameterException failure) {
    CommandSpec command = failure.getCommandLine().getCommandSpec();
    String sentence = String.valueOf(failure.getMessage()).strip();
    if (failure instanceof UnmatchedArgumentException unmatched && command.parent() == null) {
      List<String> similar = unmatched.getSuggestions();
      sentence =
          "there is no command '"
              + unmatched.getUnmatched().getFirst()
              + "'"
              + (similar.isEmpty() ? "" : "; did you mean " + String.join(" or ", similar) + "?");
    }
    String stripped =
        sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
    complain(command, stripped + "; '" + command.qualifiedName() + " --help' shows how");
    return ExitCode.USAGE.number();
  }

  private int failed(CommandSpec command, Exception failure) {
    if (!context.environment().getOrDefault(DEBUG, "").isEmpty()) {
      failure.printStackTrace(context.terminal().err());
    }
    return switch (failure) {
      case InterruptedException interrupted -> {
        complain(command, "interrupted; everything that it started has ended");
        yield ExitCode.INTERRUPTED.number();
      }
      case ExitException ended -> {
        complain(command, ended.sentence());
        yield ended.code().number();
      }
      case BatonException refused -> {
        String wayOut = refused.isUnreachable() ? "; " + whenUnreachable : "";
        complain(command, refused.getMessage() + wayOut);
        yield exitCode(refused).number();
      }
      default -> {
        complain(command, "a fault of Baton: " + failure + " (" + DEBUG + "=1 shows where)");
        yield ExitCode.INTERNAL.number();
      }
    };
  }

  private void complain(CommandSpec command, String sentence) {
    context.terminal().remark(command.qualifiedName() + ": " + sentence);
  }

  private static ExitCode exitCode(BatonException refused) {
    if (refused.isUnreachable()) {
      return ExitCode.UNREACHABLE;
    }
    return switch (refused.code()) {
      case INVALID_DEFINITION, INVALID_PARAMETER, INVALID_REQUEST, TOO_LARGE -> ExitCode.USAGE;
      case NO_LEADER, NOT_READY -> ExitCode.UNREACHABLE;
      case INTERNAL -> ExitCode.INTERNAL;
      case KEY_CONFLICT,
          RUN_NOT_FOUND,
          TASK_NOT_FOUND,
          WORKER_NOT_FOUND,
          NO_OUTPUT,
          EXPIRED,
          NO_WORKER,
          OVERLOADED,
          STORE_FULL,
          REFUSAL_CODE_UNSPECIFIED,
          UNRECOGNIZED ->
          ExitCode.REFUSED;
    };
  }

  /** The table of exit codes in {@code --help}. */
  private static Map<String, String> exitCodes() {
    Map<String, String> table = new LinkedHashMap<>();
    Stream.of(ExitCode.values())
        .forEach(code -> table.put(Integer.toString(code.number()), meaning(code)));
    return table;
  }

  private static String meaning(ExitCode code) {
    return switch (code) {
      case OK -> "done; 'watch' and 'submit --wait': the run succeeded";
      case FAILED -> "the run, or a check, ended badly";
      case USAGE -> "a wrong command line, or an input that breaks a rule";
      case ID_IN_USE -> "another live process holds the node's id";
      case UNREACHABLE -> "etcd or the cluster did not answer in time";
      case PORT_IN_USE -> "an address to listen on is taken";
      case CONFIGURATION -> "a setting is unknown, missing or impossible";
      case REFUSED -> "the cluster refused the request";
      case NOT_INSTALLED -> "a program that is needed is not installed";
      case INTERNAL -> "a fault of Baton";
      case INTERRUPTED -> "ended by Ctrl-C; what runs in the cluster goes on";
    };
  }
}
