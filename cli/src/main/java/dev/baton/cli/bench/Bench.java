package dev.baton.cli.bench;

import dev.baton.cli.bench.BenchResult.CpuMicrosPerTask;
import dev.baton.cli.bench.BenchResult.Memory;
import dev.baton.cli.bench.BenchResult.Setup;
import dev.baton.cli.bench.JournalTap.Counts;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.ClusterRecord;
import dev.baton.cli.cluster.ClusterRecord.Member;
import dev.baton.cli.cluster.Daemon;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.cluster.LocalCluster.Size;
import dev.baton.cli.cluster.Settings;
import dev.baton.client.BatonClient;
import dev.baton.client.Endpoint;
import dev.baton.coordination.EtcdConfig;
import dev.baton.coordination.Keys;
import dev.baton.coordination.jetcd.JetcdEtcd;
import dev.baton.proto.v1.Node;
import dev.baton.proto.v1.SubmitRunRequest;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One benchmark: a fresh cluster, perhaps a standing load, the load that is measured, perhaps a
 * trial, and the sums.
 */
public final class Bench {
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final int WARM_UP_PART = 10;

  private final Options options;
  private final ClusterFolder folder;
  private final LocalCluster cluster;
  private final Consumer<String> progress;

  /**
   * What to do.
   *
   * @param runs measured runs with the warm-up; with a trial the load goes on until it is over
   * @param preloadTasks tasks that stand still in the schedulers' memory meanwhile
   * @param fault what the leader is hit by; null: nothing
   * @param duration for so long nothing happens, under half of the load; excludes a fault
   * @param busyLoops threads that never rest, while half of the load is on
   * @param slots of the one worker
   * @param footprint whether memory is measured, which stops the leader twice
   */
  public record Options(
      Shape shape,
      int runs,
      int concurrency,
      int payloadBytes,
      int preloadTasks,
      @Nullable Signal fault,
      int rounds,
      @Nullable Duration duration,
      int busyLoops,
      int schedulers,
      int etcd,
      int slots,
      boolean footprint,
      String version) {
    Setup setup() {
      return new Setup(
          version,
          shape.name().toLowerCase(Locale.ROOT),
          runs,
          concurrency,
          payloadBytes,
          preloadTasks,
          fault == null ? null : fault.name(),
          fault == null ? 0 : rounds,
          schedulers,
          etcd,
          1,
          allSlots(),
          Runtime.getRuntime().availableProcessors());
    }

    boolean hasTrial() {
      return fault != null || duration != null;
    }

    /** Those that the standing load takes come on top. */
    int allSlots() {
      return slots + Preload.running(preloadTasks);
    }
  }

  /** What was read when the warm-up was over, and at the end. */
  private record Moment(Counts counts, int runsEnded, CpuMeter cpu) {}

  public Bench(
      Options options, ClusterFolder folder, LocalCluster cluster, Consumer<String> progress) {
    this.options = options;
    this.folder = folder;
    this.cluster = cluster;
    this.progress = progress;
  }

  /** Runs it; the cluster is gone afterwards, but for its folder if something failed. */
  public BenchResult run() throws InterruptedException {
    cluster.down(GRACE, true);
    try {
      BenchResult result =
          measure(
              cluster.up(
                  new Size(options.schedulers(), 1, options.etcd(), options.allSlots(), true)));
      cluster.down(GRACE, true);
      return result;
    } finally {
      // Harmless when it is down already; data and logs of a failure stay.
      cluster.down(GRACE, false);
    }
  }

  private BenchResult measure(ClusterRecord record) throws InterruptedException {
    ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
    List<String> etcdEndpoints = record.etcd().stream().map(Member::apiAddress).toList();
    AtomicReference<@Nullable LoadGenerator> target = new AtomicReference<>();
    try (JetcdEtcd etcd = JetcdEtcd.create(EtcdConfig.of(etcdEndpoints), "bench");
        BatonClient client =
            BatonClient.connect(record.endpoints().stream().map(Endpoint::parse).toList());
        JournalTap tap =
            new JournalTap(
                etcd,
                new Keys(Settings.NAMESPACE),
                options.shape().tasks(),
                runId -> {
                  LoadGenerator load = target.get();
                  if (load != null) {
                    load.onRunEnded(runId);
                  }
                },
                executor)) {
      preload(client);
      LoadGenerator load =
          new LoadGenerator(
              client,
              options.shape().definition(options.payloadBytes()),
              options.concurrency(),
              executor);
      target.set(load);
      tap.start();
      client.listNodes();
      Trial trial = new Trial(options, folder, cluster, progress, tap, load);
      Footprint footprint =
          options.footprint() ? new Footprint(etcd, tap, () -> leader(client), executor) : null;
      try {
        return measure(client, load, tap, trial, footprint);
      } finally {
        trial.stop();
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private Footprint.@Nullable Leader leader(BatonClient client) {
    String id = leaderOf(client);
    ClusterRecord record = folder.load().orElseThrow();
    Member member =
        record.schedulers().stream().filter(m -> m.id().equals(id)).findFirst().orElse(null);
    Daemon process = record.process(id).orElse(null);
    return member == null || process == null
        ? null
        : new Footprint.Leader(process, member.httpPort());
  }

  private BenchResult measure(
      BatonClient client,
      LoadGenerator load,
      JournalTap tap,
      Trial trial,
      @Nullable Footprint footprint)
      throws InterruptedException {
    if (footprint != null) {
      footprint.start();
    }
    Moment start = moment(load, tap);
    AtomicReference<Moment> warm = new AtomicReference<>(start);
    progress.accept("load: " + options.runs() + " runs of " + options.shape().tasks() + " tasks");
    int warmUp = options.runs() / WARM_UP_PART;
    load.run(warmUp, () -> warm.set(moment(load, tap)), enough(trial));
    Moment end = moment(load, tap);
    trial.join();
    Memory memory = footprint == null ? null : footprint.end();
    String leader = leaderOf(client);
    ClusterRecord record = folder.load().orElseThrow();
    // Only a worker that has ended has written all of its trace.
    cluster.down(GRACE, false);
    TraceReader traces = new TraceReader(options.shape(), load::isMeasured);
    traces.read(record.workers().stream().map(worker -> folder.trace(worker.id())).toList());
    return sum(start, warm.get(), end, load, traces, record, leader, trial, memory);
  }

  /** A number of runs, or until the trial is over. */
  private BooleanSupplier enough(Trial trial) {
    int[] asked = {0};
    return () -> {
      asked[0]++;
      if (asked[0] == options.runs() / WARM_UP_PART + 1) {
        trial.start();
      }
      return asked[0] > options.runs() && trial.isDone();
    };
  }

  private void preload(BatonClient client) {
    List<String> definitions = Preload.definitions(options.preloadTasks());
    for (String definition : definitions) {
      client.submit(SubmitRunRequest.newBuilder().setDefinition(definition).build());
    }
    if (!definitions.isEmpty()) {
      progress.accept(
          "preloaded: " + options.preloadTasks() + " tasks in " + definitions.size() + " runs");
    }
  }

  private Moment moment(LoadGenerator load, JournalTap tap) {
    return new Moment(
        tap.counts(), load.ended(), CpuMeter.read(folder.load().orElseThrow().processes()));
  }

  private static String leaderOf(BatonClient client) {
    return client.listNodes().getNodesList().stream()
        .filter(Node::getLeader)
        .map(Node::getNodeId)
        .findFirst()
        .orElse("");
  }

  private BenchResult sum(
      Moment start,
      Moment warm,
      Moment end,
      LoadGenerator load,
      TraceReader traces,
      ClusterRecord record,
      String leader,
      Trial trial,
      @Nullable Memory memory) {
    double seconds = seconds(warm, end);
    long tasks = end.counts().tasksEnded() - warm.counts().tasksEnded();
    long bytes = end.counts().bytes() - warm.counts().bytes();
    long entries = end.counts().entries() - warm.counts().entries();
    return new BenchResult(
        options.setup(),
        rounded(seconds),
        end.runsEnded(),
        load.refused(),
        end.counts().tasksEnded(),
        end.counts().tasksEnded() - end.counts().tasksSucceeded(),
        traces.starts(),
        rounded((end.runsEnded() - warm.runsEnded()) / seconds),
        rounded(tasks / seconds),
        rounded((warm.counts().tasksEnded() - start.counts().tasksEnded()) / seconds(start, warm)),
        Percentiles.of(load.latencies()),
        Percentiles.of(traces.hops()),
        rounded((double) bytes / Math.max(1, tasks)),
        rounded((double) tasks / Math.max(1, entries)),
        cpu(warm.cpu(), end.cpu(), record, leader, Math.max(1, tasks)),
        trial.failover(traces),
        trial.steady(),
        memory);
  }

  private static CpuMicrosPerTask cpu(
      CpuMeter before, CpuMeter after, ClusterRecord record, String leader, long tasks) {
    List<Daemon> processes = record.processes();
    long leaderPid = record.process(leader).map(Daemon::pid).orElse(0L);
    return new CpuMicrosPerTask(
        rounded((double) after.since(before, processes, Role.ETCD) / tasks),
        rounded((double) after.since(before, processes, Role.SCHEDULER) / tasks),
        rounded((double) after.since(before, leaderPid) / tasks),
        rounded((double) after.since(before, processes, Role.WORKER) / tasks),
        rounded((double) after.since(before, ProcessHandle.current().pid()) / tasks));
  }

  /** To a thousandth: more digits say nothing. */
  static double rounded(double value) {
    return Math.round(value * 1000) / 1000.0;
  }

  private static double seconds(Moment from, Moment to) {
    return Math.max(1, to.counts().nanos() - from.counts().nanos()) / 1e9;
  }
}
