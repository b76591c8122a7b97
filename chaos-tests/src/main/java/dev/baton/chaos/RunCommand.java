package dev.baton.chaos;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.chaos.checker.Verdict;
import dev.baton.chaos.environment.Environment;
import dev.baton.chaos.environment.machines.ContainerMachines;
import dev.baton.chaos.environment.machines.Machines;
import dev.baton.chaos.environment.machines.MachinesEnvironment;
import dev.baton.chaos.environment.machines.NamespaceMachines;
import dev.baton.chaos.environment.process.ProcessEnvironment;
import dev.baton.chaos.history.HistoryWriter;
import dev.baton.chaos.report.ReportFolder;
import dev.baton.chaos.scenario.ChaosRun;
import dev.baton.chaos.scenario.Scenario;
import dev.baton.cli.cluster.CleanEnd;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs scenarios and judges them. */
@Command(
    name = "run",
    header = "Run a scenario on a fresh cluster, judge it, write a report.",
    description =
        "The cluster and the report stand in .baton/chaos/SCENARIO-SEED-TIME (BATON_DIR replaces .baton). Exits with 0 only if the verdict is valid, or if the environment can make none of the faults (skipped).",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton chaos run smoke",
      "  baton chaos run kill-leader --rounds 20 -o json | jq .failoverMs",
      "  baton chaos run mixed --seed 7             the same faults in the same order",
      "  baton chaos run mixed --duration 30m       a soak",
      "  baton chaos run partition-etcd-leader --env netns",
      "  baton chaos run all"
    })
final class RunCommand implements Callable<Integer> {
  private static final String ALL = "all";
  private static final Duration CLEAN_UP = Duration.ofSeconds(60);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  private final Context context;

  /** Where the cluster lives. */
  enum Kind {
    PROCESS,
    NETNS,
    DOCKER
  }

  @Parameters(paramLabel = "SCENARIO", description = "one of 'baton chaos list', or all")
  private String name = "";

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "rounds of faults (default: the scenario's)")
  private @Nullable Integer rounds;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "what chance follows from (default: drawn, and told)")
  private @Nullable Long seed;

  @Option(
      names = "--duration",
      paramLabel = "D",
      description = "rounds for so long, such as 30m, instead of a number of them")
  private @Nullable Duration duration;

  @Option(
      names = "--fault-duration",
      paramLabel = "D",
      description = "how long a fault lasts, such as 10s (default: its own)")
  private @Nullable Duration faultDuration;

  @Option(
      names = "--rate",
      paramLabel = "R",
      defaultValue = "40",
      description = "runs a second, of four tasks on average (default 40)")
  private double rate;

  @Option(
      names = "--env",
      paramLabel = "ENV",
      defaultValue = "process",
      description = {
        "process (default): plain processes of this machine",
        "netns: each in a network namespace of its own; needs root",
        "docker: each in a container; needs an engine on this machine"
      })
  private Kind kind = Kind.PROCESS;

  @Option(names = "--etcd", paramLabel = "N", defaultValue = "3", description = "default 3")
  private int etcd;

  @Option(names = "--schedulers", paramLabel = "N", defaultValue = "3", description = "default 3")
  private int schedulers;

  @Option(names = "--workers", paramLabel = "N", defaultValue = "2", description = "default 2")
  private int workers;

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "32",
      description = "of each worker (default 32)")
  private int slots;

  @Mixin private final Common common = new Common();

  RunCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws InterruptedException {
    require("--rounds", rounds == null ? 1 : rounds, 1, 10_000);
    require("--etcd", etcd, 3, 7);
    require("--schedulers", schedulers, 2, 9);
    require("--workers", workers, 2, 50);
    require("--slots", slots, 4, 4096);
    if (!(rate >= 1 && rate <= 1000)) {
      throw new ExitException(ExitCode.USAGE, "--rate is 1 to 1000, but got " + rate);
    }
    List<Scenario> scenarios = scenarios();
    // Before anything is made.
    switch (kind) {
      case PROCESS -> {
        // Needs nothing.
      }
      case NETNS -> NamespaceMachines.require(context.environment());
      case DOCKER -> ContainerMachines.require();
    }
    List<Summary> summaries = new ArrayList<>();
    for (Scenario scenario : scenarios) {
      summaries.add(CleanEnd.run(CLEAN_UP, context.terminal()::remark, () -> run(scenario)));
      if (!common.isJson()) {
        summaries.getLast().print(context, false);
      }
    }
    if (common.isJson()) {
      context.terminal().print(json(summaries));
    }
    boolean valid = summaries.stream().allMatch(RunCommand::isGood);
    return (valid ? ExitCode.OK : ExitCode.FAILED).number();
  }

  private static boolean isGood(Summary summary) {
    return summary.verdict().verdict().isGood();
  }

  private List<Scenario> scenarios() {
    if (name.equals(ALL)) {
      return Scenario.all();
    }
    return List.of(
        Scenario.find(name)
            .orElseThrow(() ->
                new ExitException(
                    ExitCode.USAGE,
                    "there is no scenario '"
                        + name
                        + "': it is all, or one of "
                        + Scenario.all().stream()
                            .map(Scenario::name)
                            .collect(Collectors.joining(", ")))));
  }

  private static void require(String option, int value, int low, int high) {
    if (value < low || value > high) {
      throw new ExitException(
          ExitCode.USAGE, option + " is " + low + " to " + high + ", but got " + value);
    }
  }

  private Summary run(Scenario scenario) throws InterruptedException {
    long drawn = seed == null ? ThreadLocalRandom.current().nextLong(1_000_000) : seed;
    ReportFolder report = new ReportFolder(folder(scenario, drawn));
    context
        .terminal()
        .remark("%s, seed %d, report in %s".formatted(scenario.name(), drawn, report.path()));
    ChaosRun.Options options =
        new ChaosRun.Options(
            scenario,
            rounds == null ? scenario.rounds() : rounds,
            duration,
            drawn,
            faultDuration,
            rate,
            etcd,
            schedulers,
            workers,
            slots,
            version());
    try (HistoryWriter history = new HistoryWriter(report.history())) {
      Environment environment = environment(report.path(), history);
      try {
        new ChaosRun(options, environment, history, context.terminal()::remark).run();
      } finally {
        close(environment);
      }
    }
    try {
      Verdict verdict = report.judge();
      return new Summary(verdict, report.path());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Environment environment(Path folder, HistoryWriter history) {
    return switch (kind) {
      case PROCESS ->
          new ProcessEnvironment(
              folder,
              context.directory(),
              context.environment(),
              history,
              context.terminal()::remark);
      case NETNS -> onMachines(folder, new NamespaceMachines(folder, environment()), history);
      case DOCKER ->
          onMachines(
              folder,
              new ContainerMachines(folder, environment(), context.terminal()::remark),
              history);
    };
  }

  private Map<String, String> environment() {
    return context.environment();
  }

  private Environment onMachines(Path folder, Machines machines, HistoryWriter history) {
    return new MachinesEnvironment(
        folder, machines, environment(), history, context.terminal()::remark);
  }

  /** An interrupt must not keep it from ending what was started. */
  private static void close(Environment environment) {
    boolean interrupted = Thread.interrupted();
    environment.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private Path folder(Scenario scenario, long drawn) {
    String base = context.environment().getOrDefault("BATON_DIR", "");
    String name =
        scenario.name() + "-" + drawn + "-" + TIME.format(LocalDateTime.now(ZoneOffset.UTC));
    Path folder =
        context
            .directory()
            .resolve(base.isEmpty() ? ".baton" : base)
            .resolve("chaos")
            .resolve(name);
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw new ExitException(
          ExitCode.CONFIGURATION,
          "the folder "
              + folder
              + " cannot be made ("
              + e.getMessage()
              + "): work in another directory, or set BATON_DIR",
          e);
    }
  }

  private static String version() {
    String version = ChaosMain.class.getPackage().getImplementationVersion();
    return version == null ? "unpackaged" : version;
  }

  /** One scenario is one document; of all, their sums and each of them. */
  private static ObjectNode json(List<Summary> summaries) {
    if (summaries.size() == 1) {
      return summaries.getFirst().json();
    }
    ObjectNode json = JsonMapper.builder().build().createObjectNode();
    json.put("verdict", summaries.stream().allMatch(RunCommand::isGood) ? "valid" : "invalid");
    ArrayNode each = json.putArray("scenarios");
    summaries.forEach(summary -> each.add(summary.json()));
    return json;
  }
}
