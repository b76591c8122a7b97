package dev.baton.chaos.environment.machines;

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
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.EtcdProgram;
import dev.baton.cli.cluster.HttpProbe;
import dev.baton.cli.cluster.NodeCommand;
import dev.baton.cli.cluster.Polling;
import dev.baton.cli.cluster.Readiness;
import dev.baton.cli.cluster.Settings;
import dev.baton.client.Endpoint;
import dev.baton.coordination.server.EtcdCluster;
import dev.baton.coordination.server.EtcdCluster.Seat;
import dev.baton.coordination.server.EtcdServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cluster of which every member has a machine of its own. All members listen on the same ports.
 * Its data is gone after the close; its logs stay.
 */
public final class MachinesEnvironment implements Environment {
  static final int ETCD_PORT = 2379;
  private static final int ETCD_PEER_PORT = 2380;
  private static final int GRPC_PORT = 7400;
  static final int HTTP_PORT = 7401;
  private static final Duration GRACE = Duration.ofSeconds(35);
  private static final Duration KILL_GRACE = Duration.ofSeconds(5);
  private static final Duration POLL = Duration.ofMillis(20);

  private final RunFolder files;
  private final Map<String, String> environment;
  private final Consumer<String> progress;
  private final Machines machines;
  private final ProcessNotes notes;
  private final ClusterFolder cluster;
  private final Firewall firewall = new Firewall();
  private final SmallDisks disks = new SmallDisks();
  private final WallClocks clocks;
  private final Map<String, Machine> members = new LinkedHashMap<>();
  private @Nullable Subnet subnet;
  private int slots = 1;
  private boolean setsClocks;

  /**
   * Prepares a cluster; nothing is started yet.
   *
   * @param folder of this chaos run, which gets the logs
   * @param environment of this program
   */
  public MachinesEnvironment(
      Path folder,
      Machines machines,
      Map<String, String> environment,
      Consumer<Observation> journal,
      Consumer<String> progress) {
    this.files = new RunFolder(folder, folder, environment);
    this.environment = files.environment();
    this.progress = progress;
    this.machines = machines;
    this.notes = new ProcessNotes(journal, progress);
    this.cluster = files.cluster();
    this.clocks = new WallClocks(files.clocks());
  }

  @Override
  public String name() {
    return machines.name();
  }

  @Override
  public RunFolder files() {
    return files;
  }

  @Override
  public Optional<String> lacks(Ability ability) {
    return switch (ability) {
      case SIGNALS, SCALE -> Optional.empty();
      case CUTS, ETCD_CUTS -> Firewall.obstacle(environment);
      case SLOWNESS ->
          Optional.of("iptables drops packets but delays none: --env process can delay them");
      case DISK -> SmallDisks.obstacle();
      case CLOCKS -> WallClocks.obstacle(environment);
    };
  }

  @Override
  public void start(Layout layout) {
    slots = layout.slots();
    setsClocks = layout.wanted().contains(Ability.CLOCKS);
    EtcdProgram.ensure(environment, progress);
    makeFolders();
    if (layout.wanted().contains(Ability.DISK)) {
      for (int i = 0; i < layout.etcd(); i++) {
        disks.mount(files.disk("etcd-" + i));
      }
    }
    Subnet opened = machines.open();
    subnet = opened;
    progress.accept(machines.name() + ": every member has an address in " + opened.cidr());
    List<Seat> seats =
        IntStream.range(0, layout.etcd())
            .mapToObj(i -> new Seat(opened.address(Role.ETCD, i), ETCD_PORT, ETCD_PEER_PORT))
            .toList();
    List<String> etcd = new ArrayList<>();
    for (int i = 0; i < layout.etcd(); i++) {
      etcd.add(
          add(
              "etcd-" + i,
              Role.ETCD,
              seats.get(i).host(),
              EtcdCluster.command(EtcdServer.find(), cluster.etcd(), seats, i, List.of())));
    }
    etcd.forEach(this::launch);
    etcd.forEach(this::awaitReady);
    progress.accept("etcd: " + etcd.size() + " members are healthy");
    List<String> schedulers = addNodes(Role.SCHEDULER, layout.schedulers());
    List<String> workers = addNodes(Role.WORKER, layout.workers());
    schedulers.forEach(this::launch);
    workers.forEach(this::launch);
    schedulers.forEach(this::awaitReady);
    progress.accept("schedulers: " + schedulers.size() + " ready");
    workers.forEach(this::awaitReady);
    progress.accept("workers: " + workers.size() + " ready");
  }

  private void makeFolders() {
    try {
      for (Path each : List.of(files.logs(), cluster.etcd(), cluster.path().resolve("settings"))) {
        Files.createDirectories(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "The folders of the cluster cannot be made beside " + files.logs(), e);
    }
  }

  private List<String> addNodes(Role role, int count) {
    List<String> added = new ArrayList<>();
    int first = (int) named(role).count();
    for (int i = first; i < first + count; i++) {
      String name = (role == Role.SCHEDULER ? "s" : "w") + (i + 1);
      String address = subnet().address(role, i);
      Settings.write(cluster.settings(name), settings(name, role, address));
      added.add(
          add(name, role, address, NodeCommand.of(role, cluster.settings(name), environment)));
    }
    return added;
  }

  private String add(String name, Role role, String address, List<String> command) {
    Map<String, String> variables =
        setsClocks && role == Role.SCHEDULER ? clocks.environment(name) : Map.of();
    Blueprint blueprint =
        new Blueprint(name, role, address, command, variables, files.logs().resolve(name + ".log"));
    members.put(name, machines.add(blueprint));
    return name;
  }

  private Map<String, Object> settings(String name, Role role, String address) {
    ClusterRecord.Member node =
        new ClusterRecord.Member(
            name, role == Role.SCHEDULER ? GRPC_PORT : 0, HTTP_PORT, slots, true);
    return settings(role, node, address, etcdEndpoints(), cluster.trace(name));
  }

  /** As of a local cluster, but on an address of its own. */
  static Map<String, Object> settings(
      Role role, ClusterRecord.Member node, String address, List<String> etcd, Path trace) {
    Map<String, Object> settings =
        role == Role.SCHEDULER
            ? Settings.scheduler(node, etcd)
            : Settings.worker(node, etcd, trace);
    Map<String, Object> listen = new LinkedHashMap<>();
    if (settings.get("listen") instanceof Map<?, ?> ports) {
      ports.forEach((port, number) -> listen.put(String.valueOf(port), number));
    }
    listen.put("insecureBind", address);
    settings.put("listen", listen);
    if (role == Role.WORKER) {
      settings.put("insecureShell", true);
    }
    return settings;
  }

  private Subnet subnet() {
    if (subnet == null) {
      throw new IllegalStateException("Expected a cluster that was started.");
    }
    return subnet;
  }

  Machine machine(String part) {
    Machine machine = members.get(part);
    if (machine == null) {
      throw new IllegalArgumentException("Expected a member, but got " + part);
    }
    return machine;
  }

  private Stream<Machine> named(Role role) {
    return members.values().stream().filter(machine -> machine.blueprint().role() == role);
  }

  @Override
  public List<Part> parts() {
    return members.values().stream()
        .map(machine -> new Part(machine.blueprint().name(), machine.blueprint().role()))
        .toList();
  }

  @Override
  public List<Endpoint> endpoints() {
    return named(Role.SCHEDULER)
        .map(machine -> Endpoint.parse(machine.blueprint().address() + ":" + GRPC_PORT))
        .toList();
  }

  @Override
  public List<String> etcdEndpoints() {
    return named(Role.ETCD)
        .map(machine -> machine.blueprint().address() + ":" + ETCD_PORT)
        .toList();
  }

  @Override
  public boolean isDown(String part) {
    return machine(part).isDown();
  }

  @Override
  public boolean refusesForTheDead() {
    return machines.refusesForTheDead();
  }

  @Override
  public boolean isEtcdLeader(String member) {
    return HttpProbe.isEtcdLeader(machine(member).blueprint().address(), ETCD_PORT);
  }

  @Override
  public void signal(String part, Signal signal) {
    if (machine(part).signal(signal)) {
      notes.signalled(part, signal);
    }
  }

  @Override
  public void launch(String part) {
    Machine machine = machine(part);
    if (!machine.isDown()) {
      return;
    }
    notes.foundDead(part);
    machine.start();
    firewall.reapply(machine);
    notes.started(part);
  }

  @Override
  public void awaitReady(String part) {
    Machine machine = machine(part);
    String address = machine.blueprint().address();
    Readiness.await(
        part,
        machine.blueprint().log(),
        machine::isDown,
        () ->
            machine.blueprint().role() == Role.ETCD
                ? HttpProbe.isEtcdHealthy(address, ETCD_PORT)
                : HttpProbe.isReady(address, HTTP_PORT));
  }

  @Override
  public void awaitDown(String part, Duration bound) {
    notes.awaitDown(part, bound, machine(part)::isDown, () -> signal(part, Signal.KILL));
  }

  @Override
  public void impair(String from, String to, Impairment impairment) {
    firewall.impair(machine(from), machine(to), impairment);
  }

  @Override
  public void restoreNetwork() {
    firewall.restore();
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
    List<String> added = addNodes(Role.WORKER, count);
    added.forEach(this::launch);
    added.forEach(this::awaitReady);
    return added;
  }

  @Override
  public void stop() {
    firewall.restore();
    end(GRACE);
  }

  /** Workers drain while their scheduler listens; schedulers resign while etcd does. */
  private void end(Duration grace) {
    for (Role role : List.of(Role.WORKER, Role.SCHEDULER, Role.ETCD)) {
      List<Machine> running = named(role).filter(machine -> !machine.isDown()).toList();
      for (Machine machine : running) {
        machine.signal(Signal.TERM);
        // A stopped process hears nothing until it goes on.
        machine.signal(Signal.CONT);
      }
      if (!haveEnded(running, grace)) {
        for (Machine machine : running) {
          if (machine.signal(Signal.KILL)) {
            progress.accept(
                machine.blueprint().name()
                    + " had not ended after "
                    + grace.toSeconds()
                    + " s and was killed");
          }
        }
        haveEnded(running, KILL_GRACE);
      }
    }
  }

  private static boolean haveEnded(List<Machine> machines, Duration bound) {
    return Polling.until(
            bound,
            POLL,
            () ->
                machines.stream().allMatch(Machine::isDown) ? Optional.of(true) : Optional.empty())
        .isPresent();
  }

  @Override
  public void close() {
    try {
      firewall.restore();
      end(KILL_GRACE);
    } finally {
      try {
        machines.close();
      } finally {
        disks.close();
        cluster.purge();
      }
    }
  }
}
