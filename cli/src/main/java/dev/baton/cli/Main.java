package dev.baton.cli;

import dev.baton.cli.program.Context;
import dev.baton.cli.program.Program;
import picocli.CommandLine;

/** The program {@code baton}: the table of its commands. */
public final class Main {
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
            .addSubcommand(new ExplainCommand(context))
            .addSubcommand(new ListCommand(context))
            .addSubcommand(new WatchCommand(context))
            .addSubcommand(new CancelCommand(context))
            .addSubcommand(new WorkersCommand(context))
            .addSubcommand(
                new CommandLine(new WorkerCommand(context))
                    .addSubcommand(new DrainCommand(context)))
            .addSubcommand(new NodesCommand(context))
            .addSubcommand(new ValidateCommand(context))
            .addSubcommand(new ConformanceCommand(context))
            .addSubcommand(new DemoCommand(context))
            .addSubcommand(new BenchCommand(context))
            .addSubcommand(new VersionCommand(context));
    return new Program(
            context, "name a live node with --endpoints, or start a local cluster with 'baton up'")
        .run(baton, args);
  }
}
