package dev.baton.cli.program;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command that is nothing without one of those below it. */
public abstract class CommandGroup implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  @SuppressWarnings("UnusedVariable") // picocli sets and reads it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "print this, and end")
  private boolean help;

  @Override
  public final void run() {
    throw new ParameterException(spec.commandLine(), "Expected a command");
  }
}
