package dev.baton.chaos;

import dev.baton.client.BatonException;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** The program {@code baton chaos}: the table of its commands, and failures as sentences. */
public final class ChaosMain {
  private static final String DEBUG = "BATON_DEBUG";
  private static final Pattern DURATION = Pattern.compile("(\\d{1,6})(ms|s|m)");

  private ChaosMain() {}

  public static void main(String[] args) {
    Context context =
        new Context(
            writer(FileDescriptor.out),
            writer(FileDescriptor.err),
            System.getenv(),
            Path.of("").toAbsolutePath());
    System.exit(run(context, args));
  }

  /** Runs one command and returns the code to exit with. */
  static int run(Context context, String... args) {
    CommandLine chaos =
        new CommandLine(new ChaosCommand())
            .addSubcommand(new ListCommand(context))
            .addSubcommand(new RunCommand(context))
            .addSubcommand(new JudgeCommand(context))
            .registerConverter(Duration.class, ChaosMain::duration)
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setUsageHelpAutoWidth(false)
            .setUsageHelpWidth(100)
            .setOut(context.out())
            .setErr(context.err())
            .setParameterExceptionHandler((failure, unused) -> misused(context, failure))
            .setExecutionExceptionHandler(
                (failure, command, unused) -> failed(context, command.getCommandSpec(), failure));
    int code = chaos.execute(args);
    context.out().flush();
    context.err().flush();
    return code;
  }

  private static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text.strip());
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "Expected a duration such as 500ms, 30s or 5m, but got '" + text + "'");
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      default -> Duration.ofMinutes(number);
    };
  }

  private static int misused(Context context, ParameterException failure) {
    CommandSpec command = failure.getCommandLine().getCommandSpec();
    String sentence = String.valueOf(failure.getMessage()).strip().replaceFirst("\\.$", "");
    context.remark(
        command.qualifiedName()
            + ": "
            + sentence
            + "; '"
            + command.qualifiedName()
            + " --help' shows how");
    return ExitCode.USAGE.number();
  }

  private static int failed(Context context, CommandSpec command, Exception failure) {
    if (!context.environment().getOrDefault(DEBUG, "").isEmpty()) {
      failure.printStackTrace(context.err());
    }
    String name = command.qualifiedName();
    return switch (failure) {
      case ExitException ended -> {
        context.remark(name + ": " + ended.sentence());
        yield ended.code().number();
      }
      case InterruptedException interrupted -> {
        context.remark(name + ": interrupted; everything that was started has ended");
        yield ExitCode.INTERRUPTED.number();
      }
      case BatonException refused -> {
        context.remark(name + ": " + refused.getMessage());
        yield ExitCode.UNREACHABLE.number();
      }
      default -> {
        context.remark(
            name + ": a fault of the suite: " + failure + " (" + DEBUG + "=1 shows where)");
        yield ExitCode.INTERNAL.number();
      }
    };
  }

  private static PrintWriter writer(FileDescriptor descriptor) {
    return new PrintWriter(
        new OutputStreamWriter(new FileOutputStream(descriptor), StandardCharsets.UTF_8));
  }
}
