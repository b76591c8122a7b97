package dev.baton.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.cli.bench.Bench;
import dev.baton.cli.bench.BenchResult;
import dev.baton.cli.bench.Percentiles;
import dev.baton.cli.bench.Shape;
import dev.baton.cli.cluster.CleanEnd;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.EtcdProgram;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a fresh local cluster. */
@Command(
    name = "bench",
    header = "Measure a fresh local cluster under load, with or without faults.",
    description =
        "Starts a cluster of its own in .baton/NAME, on this disk and with etcd's default fsync;"
            + " counts results in etcd; deletes the cluster at the end. Exits with 1 if a run did"
            + " not succeed.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton bench --shape diamond --runs 20000 --concurrency 256",
      "  baton bench --shape chain --runs 200 --concurrency 1",
      "  baton bench --shape diamond --runs 1000 --concurrency 64 --fault TERM --rounds 20",
      "  baton bench --preload-tasks 100000 --fault TERM --rounds 5 -o json | jq .failoverMs",
      "  baton bench --duration 60m --busy-loops 2"
    })
final class BenchCommand implements Callable<Integer> {
  private static final Duration CLEAN_UP = Duration.ofSeconds(60);

  private final Context context;

  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      defaultValue = "diamond",
      description =
          "diamond (1-3-1 tasks, default), chain (10 in a row), or wide (1-100-1); all are echo")
  private Shape shape = Shape.DIAMOND;

  @Option(
      names = "--runs",
      paramLabel = "N",
      defaultValue = "1000",
      description = "runs, the first tenth as warm-up (default 1000)")
  private int runs;

  @Option(
      names = "--concurrency",
      paramLabel = "C",
      defaultValue = "64",
      description = "runs at a time (default 64)")
  private int concurrency;

  @Option(
      names = "--payload-bytes",
      paramLabel = "B",
      defaultValue = "0",
      description = "bytes that each task echoes (default 0)")
  private int payloadBytes;

  @Option(
      names = "--preload-tasks",
      paramLabel = "N",
      defaultValue = "0",
      description = "tasks that stand still meanwhile, in runs of 10,000 with 10 running each")
  private int preloadTasks;

  @Option(
      names = "--fault",
      paramLabel = "SIGNAL",
      description =
          "TERM, KILL or STOP to the leader, in rounds, under half of the load that the cluster"
              + " bears; it goes on until all are done")
  private @Nullable Signal fault;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "rounds of --fault (default 5)")
  private int rounds;

  @Option(
      names = "--duration",
      paramLabel = "D",
      description =
          "leave the cluster alone for so long, such as 60m, under half of the load that it bears,"
              + " and count leaders that were deposed; without --fault")
  private @Nullable Duration duration;

  @Option(
      names = "--busy-loops",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "threads of this command that take whole processors, while half of the load is on")
  private int busyLoops;

  @Option(names = "--schedulers", paramLabel = "N", defaultValue = "3", description = "default 3")
  private int schedulers;

  @Option(names = "--etcd", paramLabel = "N", defaultValue = "3", description = "default 3")
  private int etcd;

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "1024",
      description = "of the one worker (default 1024)")
  private int slots;

  @Option(
      names = "--footprint",
      description = "measure etcd's size in use and the leader's heap, too; needs jcmd of a JDK")
  private boolean footprint;

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      defaultValue = "bench",
      description = "name of the cluster that is made and deleted (default bench)")
  private String cluster = "bench";

  @Mixin private final Common common = new Common();

  BenchCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws InterruptedException {
    require("--runs", runs, 1, 10_000_000);
    require("--concurrency", concurrency, 1, 100_000);
    require("--payload-bytes", payloadBytes, 0, 900_000 / shape.tasks());
    require("--preload-tasks", preloadTasks, 0, 1_000_000);
    require("--rounds", rounds, 1, 10_000);
    if (fault == Signal.CONT) {
      throw new ExitException(ExitCode.USAGE, "--fault is TERM, KILL or STOP, but got CONT");
    }
    require("--busy-loops", busyLoops, 0, 1_000);
    if (duration != null && fault != null) {
      throw new ExitException(
          ExitCode.USAGE, "--duration leaves the cluster alone: with --fault say --rounds");
    }
    if (busyLoops > 0 && duration == null && fault == null) {
      throw new ExitException(ExitCode.USAGE, "--busy-loops needs --fault or --duration");
    }
    EtcdProgram.ensure(context.environment(), context.terminal()::remark);
    ClusterFolder folder = ClusterFolder.of(context.environment(), context.directory(), cluster);
    Consumer<String> progress = context.terminal()::remark;
    Bench.Options options =
        new Bench.Options(
            shape,
            runs,
            concurrency,
            payloadBytes,
            preloadTasks,
            fault,
            rounds,
            duration,
            busyLoops,
            schedulers,
            etcd,
            slots,
            footprint,
            VersionCommand.version());
    Bench bench =
        new Bench(
            options,
            folder,
            new LocalCluster(folder, context.directory(), context.environment(), progress),
            progress);
    BenchResult result = CleanEnd.run(CLEAN_UP, progress, bench::run);
    if (!common.printed(context, new JsonMapper().valueToTree(result))) {
      print(result);
    }
    boolean good = result.tasksFailed() == 0 && result.runsRefused() == 0;
    return (good ? ExitCode.OK : ExitCode.FAILED).number();
  }

  private static void require(String option, int value, int low, int high) {
    if (value < low || value > high) {
      throw new ExitException(
          ExitCode.USAGE, option + " is " + low + " to " + high + ", but got " + value);
    }
  }

  private void print(BenchResult result) {
    line("runs/s", whole(result.runsPerSecond()));
    line(
        "tasks/s",
        whole(result.tasksPerSecond()) + " (cold: " + whole(result.coldTasksPerSecond()) + ")");
    line("run latency", text(result.runLatencyMs()));
    line("hop latency", text(result.hopLatencyMs()));
    line(
        "journal",
        whole(result.journalBytesPerTask())
            + " bytes a task, "
            + tenth(result.tasksPerJournalEntry())
            + " tasks an entry");
    BenchResult.CpuMicrosPerTask cpu = result.cpuMicrosPerTask();
    line(
        "CPU a task",
        "etcd "
            + whole(cpu.etcd())
            + " us, schedulers "
            + whole(cpu.schedulers())
            + " us (leader "
            + whole(cpu.leader())
            + " us), worker "
            + whole(cpu.worker())
            + " us, client "
            + whole(cpu.client())
            + " us");
    BenchResult.Failover failover = result.failoverMs();
    if (failover != null) {
      line(
          "fail-over",
          "p50 "
              + whole(failover.p50())
              + " ms, p99 "
              + whole(failover.p99())
              + " ms, longest "
              + whole(failover.max())
              + " ms, "
              + failover.rounds().size()
              + " rounds");
      line(
          "no start for",
          tenth(failover.returnStartGap().p50())
              + " ms at most while a node comes back, as usual "
              + tenth(failover.quietStartGap().p50())
              + " ms (medians)");
    }
    BenchResult.Steady steady = result.steady();
    if (steady != null) {
      line(
          "left alone",
          whole(steady.seconds())
              + " s beside "
              + steady.busyLoops()
              + " busy loops at "
              + whole(steady.runsPerSecond())
              + " runs/s: "
              + steady.leaderChanges()
              + " changes of the leader, "
              + steady.wrongGuesses()
              + " wrong guesses");
    }
    BenchResult.Memory memory = result.memory();
    if (memory != null) {
      line("etcd", (memory.etcdInUseBytesMax() >> 20) + " MiB in use at most");
      for (BenchResult.Heap heap : memory.leaderHeaps()) {
        line(
            "leader heap",
            (heap.liveBytes() >> 10)
                + " KiB live after "
                + heap.tasksEnded()
                + " tasks, "
                + heap.retainedRuns()
                + " runs retained");
      }
    }
    line(
        "tasks",
        result.tasksEnded()
            + " ended, "
            + tenth(result.seconds())
            + " s measured, "
            + result.tasksFailed()
            + " failed, "
            + result.runsRefused()
            + " runs refused");
  }

  private static String text(Percentiles times) {
    return "p50 " + tenth(times.p50()) + " ms, p99 " + tenth(times.p99()) + " ms";
  }

  private static String whole(double value) {
    return Long.toString(Math.round(value));
  }

  private static String tenth(double value) {
    return Double.toString(Math.round(value * 10) / 10.0);
  }

  private void line(String name, String text) {
    context.terminal().println(String.format("%-12s ", name) + text);
  }
}
