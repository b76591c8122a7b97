package dev.baton.chaos;

import dev.baton.cli.program.Context;
import dev.baton.cli.program.Program;
import picocli.CommandLine;

/** The program {@code baton chaos}: the table of its commands. */
public final class ChaosMain {
  private ChaosMain() {}

  public static void main(String[] args) {
    System.exit(run(Context.ofProcess(), args));
  }

  /** Runs one command and returns the code to exit with. */
  static int run(Context context, String... args) {
    CommandLine chaos =
        new CommandLine(new ChaosCommand())
            .addSubcommand(new ListCommand(context))
            .addSubcommand(new RunCommand(context))
            .addSubcommand(new JudgeCommand(context));
    return new Program(context, "the logs in the report's folder say more").run(chaos, args);
  }
}
