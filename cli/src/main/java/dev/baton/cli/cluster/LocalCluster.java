package dev.baton.cli.cluster;

import dev.baton.cli.cluster.ClusterRecord.Member;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.coordination.server.EtcdCluster;
import dev.baton.coordination.server.EtcdServer;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops the processes of one local cluster. Used by one command at a time; holds nothing
 * between two calls but what stands in the folder.
 */
public final class LocalCluster {
  private static final Duration READY_BOUND = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(50);
  private static final Duration CLEAN_UP_GRACE = Duration.ofSeconds(3);

  private final ClusterFolder folder;
  private final Launcher launcher;
  private final Tailor tailor;
  private final Consumer<String> progress;

  /**
   * @param progress told what happens, a line each
   */
  public LocalCluster(
      ClusterFolder folder,
      Path workingDirectory,
      Map<String, String> environment,
      Consumer<String> progress) {
    this(folder, workingDirectory, environment, Tailor.NONE, progress);
  }

  /**
   * @param tailor asked each time a scheduler or a worker is started
   * @param progress told what happens, a line each
   */
  public LocalCluster(
      ClusterFolder folder,
      Path workingDirectory,
      Map<String, String> environment,
      Tailor tailor,
      Consumer<String> progress) {
    this.folder = folder;
    this.launcher = new Launcher(folder, workingDirectory, environment);
    this.tailor = tailor;
    this.progress = progress;
  }

  /**
   * How large a cluster is to be; null: as it is, or the default. Nothing is taken away from one
   * that is larger.
   *
   * @param slots of each worker that is new
   * @param trace whether a new worker writes a trace file
   */
  public record Size(
      @Nullable Integer schedulers,
      @Nullable Integer workers,
      @Nullable Integer etcd,
      int slots,
      boolean trace) {
    private static final int MAX = 99;

    public Size {
      require("--schedulers", schedulers, 1, 9);
      require("--workers", workers, 0, MAX);
      require("--etcd", etcd, 1, 7);
      require("--slots", slots, 1, 10_000);
    }

    private static void require(String option, @Nullable Integer value, int low, int high) {
      if (value != null && (value < low || value > high)) {
        throw new ExitException(
            ExitCode.USAGE, option + " is " + low + " to " + high + ", but got " + value);
      }
    }
  }

  /** Starts what is missing and waits until every process is ready; returns the cluster. */
  public ClusterRecord up(Size size) {
    return folder.locked(() -> {
      ClusterRecord record = folder.load().orElse(ClusterRecord.empty(folder.cluster()));
      continueStopped(record);
      List<Daemon> started = new ArrayList<>();
      try {
        record = startEtcd(record, size, started);
        return startNodes(plan(record, size), started);
      } catch (RuntimeException e) {
        inSpiteOfInterrupts(() -> {
          stop(started, CLEAN_UP_GRACE);
          return started;
        });
        throw e;
      }
    });
  }

  /** Starts the members of etcd alone. */
  ClusterRecord upEtcd(Size size) {
    return folder.locked(() ->
        startEtcd(
            folder.load().orElse(ClusterRecord.empty(folder.cluster())), size, new ArrayList<>()));
  }

  /** Starts one member that is down, on its ports and data, and does not wait for it. */
  public Daemon start(String name) {
    return folder.locked(() -> {
      ClusterRecord record = folder.load().orElse(ClusterRecord.empty(folder.cluster()));
      ClusterRecord after =
          record.etcd().stream().anyMatch(member -> member.id().equals(name))
              ? startMember(record, etcdServer(record, name), new ArrayList<>())
              : startNode(record, name, new ArrayList<>());
      return after.process(name).orElseThrow();
    });
  }

  /** Waits until a member that was started says that it is ready; throws if it is not. */
  public void awaitReady(String name) {
    ClusterRecord record = folder.load().orElse(ClusterRecord.empty(folder.cluster()));
    Optional<Member> etcd =
        record.etcd().stream().filter(member -> member.id().equals(name)).findFirst();
    if (etcd.isPresent()) {
      awaitReady(record, etcd.get(), () -> HttpProbe.isEtcdHealthy(etcd.get().apiPort()));
    } else {
      Member node = node(record, name);
      awaitReady(record, node, () -> HttpProbe.isReady("127.0.0.1", node.httpPort()));
    }
  }

  /** Ends all processes; returns those that were running. */
  public List<Daemon> down(Duration grace, boolean purge) {
    if (!Files.exists(folder.path())) {
      return List.of();
    }
    return inSpiteOfInterrupts(() -> folder.locked(() -> end(grace, purge)));
  }

  /** An interrupt must not keep it from ending what was started. */
  private static <T> T inSpiteOfInterrupts(Supplier<T> work) {
    boolean interrupted = Thread.interrupted();
    try {
      return work.get();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private List<Daemon> end(Duration grace, boolean purge) {
    List<Daemon> running =
        folder.load().map(ClusterRecord::processes).orElse(List.of()).stream()
            .filter(process -> process.state() != State.DEAD)
            .toList();
    // Workers drain while their scheduler listens; schedulers resign while etcd does.
    for (Role role : List.of(Role.WORKER, Role.SCHEDULER, Role.ETCD)) {
      stop(running.stream().filter(process -> process.role() == role).toList(), grace);
    }
    if (purge) {
      folder.purge();
    }
    return running;
  }

  private void continueStopped(ClusterRecord record) {
    for (Daemon process : record.processes()) {
      if (process.state() == State.STOPPED && process.signal(Signal.CONT)) {
        progress.accept(process.name() + " was stopped by a signal; it goes on");
      }
    }
  }

  private ClusterRecord startEtcd(ClusterRecord before, Size size, List<Daemon> started) {
    int members =
        size.etcd() != null ? size.etcd() : before.etcd().isEmpty() ? 3 : before.etcd().size();
    if (!before.etcd().isEmpty() && members != before.etcd().size()) {
      throw new ExitException(
          ExitCode.USAGE,
          "the cluster '"
              + before.cluster()
              + "' has "
              + before.etcd().size()
              + " members of etcd, and their number can't change: leave --etcd out, or begin anew"
              + " after 'baton down --purge'");
    }
    List<EtcdServer> servers = plan(members);
    ClusterRecord record =
        before.withEtcd(
            servers.stream().map(server -> Member.etcd(server.name(), portOf(server))).toList());
    for (EtcdServer server : servers) {
      record = startMember(record, server, started);
    }
    for (Member member : record.etcd()) {
      awaitReady(record, member, () -> HttpProbe.isEtcdHealthy(member.apiPort()));
    }
    progress.accept(
        "etcd: " + members + (members == 1 ? " member is" : " members are") + " healthy");
    return record;
  }

  private List<EtcdServer> plan(int members) {
    return EtcdCluster.plan(
        new EtcdCluster.Options(folder.etcd(), members, null, List.of(), READY_BOUND));
  }

  private EtcdServer etcdServer(ClusterRecord record, String name) {
    return plan(record.etcd().size()).stream()
        .filter(server -> server.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Starts it if it is down. */
  private ClusterRecord startMember(ClusterRecord record, EtcdServer server, List<Daemon> started) {
    Member member = Member.etcd(server.name(), portOf(server));
    if (!record.isDown(member)) {
      return record;
    }
    if (!Ports.isFree(member.apiPort())) {
      throw new ExitException(
          ExitCode.PORT_IN_USE,
          "port "
              + member.apiPort()
              + " of "
              + member.id()
              + " is in use by another process:"
              + " end that one, or begin anew after 'baton down --purge'");
    }
    Daemon process = launcher.startEtcd(server.name(), server.command(), server.log());
    started.add(process);
    ClusterRecord next = record.with(process);
    folder.save(next);
    return next;
  }

  private static int portOf(EtcdServer server) {
    String endpoint = server.endpoint();
    return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
  }

  /** Adds the members that are missing, and gives those that are down their ports. */
  private ClusterRecord plan(ClusterRecord record, Size size) {
    Ports ports = new Ports();
    int schedulers = size.schedulers() == null ? 3 : size.schedulers();
    int workers = size.workers() == null ? 2 : size.workers();
    boolean isNew = record.schedulers().isEmpty();
    List<Member> schedulerNodes = new ArrayList<>(record.schedulers());
    List<Member> workerNodes = new ArrayList<>(record.workers());
    if (isNew || size.schedulers() != null) {
      for (int i = schedulerNodes.size(); i < schedulers; i++) {
        schedulerNodes.add(Member.scheduler("s" + (i + 1), 0, 0));
      }
    }
    if (isNew || size.workers() != null) {
      for (int i = workerNodes.size(); i < workers; i++) {
        workerNodes.add(new Member("w" + (i + 1), 0, 0, size.slots(), size.trace()));
      }
    }
    schedulerNodes.replaceAll(node ->
        record.isDown(node)
            ? Member.scheduler(node.id(), ports.keep(node.apiPort()), ports.keep(node.httpPort()))
            : node);
    workerNodes.replaceAll(node ->
        record.isDown(node)
            ? new Member(node.id(), 0, ports.keep(node.httpPort()), node.slots(), node.trace())
            : node);
    return record.withNodes(schedulerNodes, workerNodes);
  }

  private ClusterRecord startNodes(ClusterRecord planned, List<Daemon> started) {
    ClusterRecord record = planned;
    folder.save(record);
    for (Member node : record.schedulers()) {
      record = startNode(record, node.id(), started);
    }
    for (Member node : record.workers()) {
      record = startNode(record, node.id(), started);
    }
    for (Member node : record.schedulers()) {
      awaitReady(record, node, () -> HttpProbe.isReady("127.0.0.1", node.httpPort()));
    }
    progress.accept("schedulers: " + record.schedulers().size() + " ready");
    for (Member node : record.workers()) {
      awaitReady(record, node, () -> HttpProbe.isReady("127.0.0.1", node.httpPort()));
    }
    progress.accept("workers: " + record.workers().size() + " ready");
    return record;
  }

  private static Member node(ClusterRecord record, String name) {
    return Stream.concat(record.schedulers().stream(), record.workers().stream())
        .filter(member -> member.id().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new ExitException(
                ExitCode.USAGE,
                "the cluster '" + record.cluster() + "' has no member '" + name + "'"));
  }

  /** Starts it if it is down. */
  private ClusterRecord startNode(ClusterRecord record, String name, List<Daemon> started) {
    Member node = node(record, name);
    if (!record.isDown(node)) {
      return record;
    }
    List<String> etcd = record.etcd().stream().map(Member::apiAddress).toList();
    boolean isScheduler = record.schedulers().contains(node);
    Map<String, Object> planned =
        isScheduler
            ? Settings.scheduler(node, etcd)
            : Settings.worker(node, etcd, node.trace() ? folder.trace(name) : null);
    Settings.write(folder.settings(name), tailor.settings(name, planned));
    Daemon process =
        launcher.startNode(
            name,
            isScheduler ? Role.SCHEDULER : Role.WORKER,
            folder.settings(name),
            tailor.environment(name));
    started.add(process);
    ClusterRecord next = record.with(process);
    folder.save(next);
    return next;
  }

  /** Waits until a process is ready, but not longer than it lives. */
  private void awaitReady(ClusterRecord record, Member member, BooleanSupplier ready) {
    Daemon process =
        record
            .process(member.id())
            .orElseThrow(
                () -> new IllegalStateException("Expected a process " + member.id() + "."));
    Readiness.await(
        member.id(),
        folder.path().resolve(process.log()),
        () -> process.state() == State.DEAD,
        ready);
  }

  /** TERM, and KILL for those that have not ended within the grace. */
  private void stop(List<Daemon> processes, Duration grace) {
    for (Daemon process : processes) {
      process.signal(Signal.TERM);
      // A stopped process hears nothing until it goes on.
      process.signal(Signal.CONT);
    }
    if (!haveEnded(processes, grace)) {
      for (Daemon process : processes) {
        if (process.signal(Signal.KILL)) {
          progress.accept(
              process.name() + " had not ended after " + grace.toSeconds() + " s and was killed");
        }
      }
      haveEnded(processes, grace);
    }
  }

  private static boolean haveEnded(List<Daemon> processes, Duration bound) {
    return Polling.until(
            bound,
            POLL,
            () ->
                processes.stream().allMatch(process -> process.state() == State.DEAD)
                    ? Optional.of(true)
                    : Optional.empty())
        .isPresent();
  }
}
