package dev.baton.cli;

import dev.baton.client.BatonException;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program {@code baton}: the table of commands, and how a failure becomes a sentence. */
public final class Main {
  private static final String DEBUG = "BATON_DEBUG";

  private Main() {}

  public static void main(String[] args) {
    System.exit(run(Context.ofProcess(), args));
  }

  /** Runs one command and returns the code to exit with. */
  static int run(Context context, String... args) {
    CommandLine baton =
        new CommandLine(new BatonCommand())
            .addSubcommand(new UpCommand(context))
            .addSubcommand(new StatusCommand(context))
            .addSubcommand(new DownCommand(context))
            .addSubcommand(new KillLeaderCommand(context))
            .addSubcommand(new SubmitCommand(context))
            .addSubcommand(new GetCommand(context))
            .addSubcommand(new ListCommand(context))
            .addSubcommand(new WatchCommand(context))
            .addSubcommand(new CancelCommand(context))
            .addSubcommand(new WorkersCommand(context))
            .addSubcommand(new NodesCommand(context))
            .addSubcommand(new ValidateCommand(context))
            .addSubcommand(new DemoCommand(context))
            .addSubcommand(new BenchCommand(context))
            .addSubcommand(new VersionCommand(context));
    baton
        .registerConverter(Duration.class, Main::duration)
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
        .setParameterExceptionHandler((failure, unused) -> misused(context, failure))
        .setExecutionExceptionHandler(
            (failure, command, unused) -> failed(context, command.getCommandSpec(), failure));
    baton.getCommandSpec().usageMessage().exitCodeList(exitCodes());
    int code = baton.execute(args);
    context.terminal().out().flush();
    context.terminal().err().flush();
    return code;
  }

  private static Duration duration(String text) {
    try {
      return Times.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }

  private static int misused(Context context, ParameterException failure) {
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
    complain(context, command, stripped + "; '" + command.qualifiedName() + " --help' shows how");
    return ExitCode.USAGE.number();
  }

  private static int failed(Context context, CommandSpec command, Exception failure) {
    if (!context.environment().getOrDefault(DEBUG, "").isEmpty()) {
      failure.printStackTrace(context.terminal().err());
    }
    return switch (failure) {
      case ExitException ended -> {
        complain(context, command, ended.sentence());
        yield ended.code().number();
      }
      case BatonException refused -> {
        String wayOut =
            refused.isUnreachable()
                ? "; name a live node with --endpoints, or start a local cluster with 'baton up'"
                : "";
        complain(context, command, refused.getMessage() + wayOut);
        yield exitCode(refused).number();
      }
      default -> {
        complain(
            context, command, "a fault of Baton: " + failure + " (" + DEBUG + "=1 shows where)");
        yield ExitCode.INTERNAL.number();
      }
    };
  }

  private static void complain(Context context, CommandSpec command, String sentence) {
    context.terminal().remark(command.qualifiedName() + ": " + sentence);
  }

  static ExitCode exitCode(BatonException refused) {
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
