package dev.baton.chaos.environment.process;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Environment;
import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.environment.Layout;
import dev.baton.chaos.environment.Part;
import dev.baton.chaos.environment.ProcessNotes;
import dev.baton.chaos.environment.RunFolder;
import dev.baton.chaos.environment.SmallDisks;
import dev.baton.chaos.environment.WallClocks;
import dev.baton.chaos.history.Observation;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.ClusterRecord;
import dev.baton.cli.cluster.ClusterRecord.Member;
import dev.baton.cli.cluster.Daemon;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.cli.cluster.EtcdProgram;
import dev.baton.cli.cluster.HttpProbe;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.cluster.LocalCluster.Size;
import dev.baton.cli.cluster.Tailor;
import dev.baton.client.Endpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A local cluster of plain processes. Its data is gone after the close; its logs stay. */
public final class ProcessEnvironment implements Environment {
  public static final String NAME = "process";
  private static final Duration GRACE = Duration.ofSeconds(35);
  private static final Duration KILL_GRACE = Duration.ofSeconds(5);

  private final RunFolder files;
  private final ProcessNotes notes;
  private final Consumer<String> progress;
  private final ClusterFolder cluster;
  private final LocalCluster local;
  private final SmallDisks disks = new SmallDisks();
  private final WallClocks clocks;
  private final ProxyNetwork network;
  private @Nullable Layout layout;

  /**
   * Prepares a cluster; nothing is started yet.
   *
   * @param folder of this chaos run, which gets the logs
   * @param workingDirectory of all processes
   * @param environment of this program
   */
  public ProcessEnvironment(
      Path folder,
      Path workingDirectory,
      Map<String, String> environment,
      Consumer<Observation> journal,
      Consumer<String> progress) {
    this.files = new RunFolder(folder, workingDirectory, environment);
    this.notes = new ProcessNotes(journal, progress);
    this.progress = progress;
    this.clocks = new WallClocks(files.clocks());
    this.cluster = files.cluster();
    this.network = new ProxyNetwork(new Callers(this::processes));
    this.local =
        new LocalCluster(cluster, workingDirectory, files.environment(), tailor(), progress);
  }

  private Tailor tailor() {
    return new Tailor() {
      @Override
      public Map<String, Object> settings(String node, Map<String, Object> planned) {
        return wants(Ability.CUTS) || wants(Ability.SLOWNESS)
            ? network.settings(node, planned)
            : planned;
      }

      @Override
      public Map<String, String> environment(String node) {
        return wants(Ability.CLOCKS) && isScheduler(node) ? clocks.environment(node) : Map.of();
      }
    };
  }

  /** By its name: it is asked before the member is in the cluster's record. */
  private static boolean isScheduler(String node) {
    return node.startsWith("s");
  }

  private boolean wants(Ability ability) {
    return layout != null && layout.wanted().contains(ability);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public RunFolder files() {
    return files;
  }

  @Override
  public Optional<String> lacks(Ability ability) {
    return switch (ability) {
      case SIGNALS, CUTS, SLOWNESS, SCALE -> Optional.empty();
      case ETCD_CUTS ->
          Optional.of("nothing stands between members of etcd here: --env netns can cut them off");
      case DISK -> SmallDisks.obstacle();
      case CLOCKS -> WallClocks.obstacle(files.environment());
    };
  }

  @Override
  public void start(Layout wanted) {
    layout = wanted;
    EtcdProgram.ensure(files.environment(), progress);
    if (wants(Ability.DISK)) {
      for (int i = 0; i < wanted.etcd(); i++) {
        disks.mount(files.disk("etcd-" + i));
      }
    }
    ClusterRecord record =
        local.up(
            new Size(wanted.schedulers(), wanted.workers(), wanted.etcd(), wanted.slots(), true));
    record.processes().forEach(process -> notes.started(process.name()));
  }

  private ClusterRecord record() {
    return cluster.load().orElseThrow(() -> new IllegalStateException("Expected a cluster."));
  }

  private Daemon process(String part) {
    return record()
        .process(part)
        .orElseThrow(() -> new IllegalArgumentException("Expected a member, but got " + part));
  }

  private Map<Long, String> processes() {
    Map<Long, String> names = new HashMap<>();
    cluster.load().stream()
        .flatMap(record -> record.processes().stream())
        .forEach(process -> names.put(process.pid(), process.name()));
    return names;
  }

  @Override
  public List<Part> parts() {
    ClusterRecord record = record();
    List<Part> parts = new ArrayList<>();
    record.etcd().forEach(member -> parts.add(new Part(member.id(), Role.ETCD)));
    record.schedulers().forEach(member -> parts.add(new Part(member.id(), Role.SCHEDULER)));
    record.workers().forEach(member -> parts.add(new Part(member.id(), Role.WORKER)));
    return parts;
  }

  @Override
  public List<Endpoint> endpoints() {
    return record().endpoints().stream().map(Endpoint::parse).toList();
  }

  @Override
  public List<String> etcdEndpoints() {
    return record().etcd().stream().map(Member::apiAddress).toList();
  }

  @Override
  public boolean isDown(String part) {
    return process(part).state() == State.DEAD;
  }

  @Override
  public boolean refusesForTheDead() {
    return true;
  }

  @Override
  public boolean isEtcdLeader(String member) {
    return record().etcd().stream()
        .filter(m -> m.id().equals(member))
        .anyMatch(m -> HttpProbe.isEtcdLeader("127.0.0.1", m.apiPort()));
  }

  @Override
  public void signal(String part, Signal signal) {
    if (process(part).signal(signal)) {
      notes.signalled(part, signal);
    }
  }

  @Override
  public void launch(String part) {
    if (isDown(part)) {
      notes.foundDead(part);
    }
    local.start(part);
    notes.started(part);
  }

  @Override
  public void awaitReady(String part) {
    local.awaitReady(part);
  }

  @Override
  public void awaitDown(String part, Duration bound) {
    Daemon process = process(part);
    notes.awaitDown(
        part, bound, () -> process.state() == State.DEAD, () -> signal(part, Signal.KILL));
  }

  @Override
  public void impair(String from, String to, Impairment impairment) {
    network.impair(from, to, impairment);
  }

  @Override
  public void restoreNetwork() {
    network.restore();
  }

  @Override
  public void fillDisk(String member) {
    disks.fill(files.disk(member));
  }

  @Override
  public void freeDisk(String member) {
    disks.free(files.disk(member));
  }

  @Override
  public void setClock(String scheduler, Duration by) {
    clocks.set(scheduler, by);
  }

  @Override
  public List<String> addWorkers(int count) {
    Set<String> before = Set.copyOf(record().workers().stream().map(Member::id).toList());
    int slots = layout == null ? 1 : layout.slots();
    List<String> added =
        local.up(new Size(null, before.size() + count, null, slots, true)).workers().stream()
            .map(Member::id)
            .filter(id -> !before.contains(id))
            .toList();
    added.forEach(notes::started);
    return added;
  }

  @Override
  public void stop() {
    network.restore();
    local.down(GRACE, false);
  }

  @Override
  public void close() {
    try {
      network.restore();
      local.down(KILL_GRACE, false);
      keepLogs();
    } finally {
      network.close();
      disks.close();
      local.down(KILL_GRACE, true);
    }
  }

  private void keepLogs() {
    try {
      Files.createDirectories(files.logs());
      for (Path from : List.of(cluster.logs(), cluster.etcd())) {
        if (Files.isDirectory(from)) {
          try (Stream<Path> listed = Files.list(from)) {
            for (Path file : listed.filter(f -> f.toString().endsWith(".log")).toList()) {
              Files.copy(
                  file,
                  files.logs().resolve(file.getFileName()),
                  StandardCopyOption.REPLACE_EXISTING);
            }
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The logs cannot be kept in " + files.logs(), e);
    }
  }
}
