package dev.baton.chaos.environment.machines;

import dev.baton.chaos.environment.Tool;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.Daemon;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.cli.cluster.Launcher;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Processes of this machine, each in a Linux network namespace of its own. A bridge in one more
 * namespace joins them, where no firewall of this machine meets their packets; one end of a cable
 * to it, with the suite's address, is all that this machine's own network gets.
 *
 * <p>Names carry this program's process id: of one process one run at a time, and whoever finds a
 * name whose process is dead removes what it left.
 */
public final class NamespaceMachines implements Machines {
  public static final String NAME = "netns";
  private static final Path NAMESPACES = Path.of("/run/netns");
  private static final Pattern OURS = Pattern.compile("baton-(\\d+)-[a-z0-9-]+");
  private static final String HUB = "hub";
  private static final String BRIDGE = "br0";
  private static final List<String> TOOLS = List.of("ip", "nsenter", "setsid");

  private final Launcher launcher;
  private final long pid = ProcessHandle.current().pid();
  private int cables;

  /**
   * Makes nothing yet.
   *
   * @param environment of this program
   */
  public NamespaceMachines(Path folder, Map<String, String> environment) {
    this.launcher =
        new Launcher(ClusterFolder.of(environment, folder, "cluster"), folder, environment);
  }

  /** Throws, with the way out, if this machine can't make any. */
  public static void require(Map<String, String> environment) {
    if (!Tool.isRoot()) {
      throw new ExitException(
          ExitCode.USAGE,
          "--env netns makes network namespaces, which only root may: run it as root, or use --env"
              + " process");
    }
    for (String tool : TOOLS) {
      if (Tool.find(environment, tool).isEmpty()) {
        throw new ExitException(
            ExitCode.NOT_INSTALLED,
            "--env netns needs the program '"
                + tool
                + "', which is not installed: 'apt-get install iproute2 util-linux'");
      }
    }
    String trial = "baton-trial-" + ProcessHandle.current().pid();
    if (!Tool.run(List.of("ip", "netns", "add", trial), "").succeeded()) {
      throw new ExitException(
          ExitCode.REFUSED,
          "--env netns makes network namespaces, which this machine does not let root do, as in"
              + " many containers: run it elsewhere, or use --env process");
    }
    String unused = Tool.require(List.of("ip", "netns", "del", trial), "");
  }

  @Override
  public String name() {
    return NAME;
  }

  /** A namespace outlives its process. */
  @Override
  public boolean refusesForTheDead() {
    return true;
  }

  @Override
  public Subnet open() {
    removeLeftovers();
    Subnet subnet = Subnet.draw(ThreadLocalRandom.current(), routes());
    String hub = namespace(HUB);
    ip("netns", "add", hub);
    ip("-n", hub, "link", "set", "lo", "up");
    ip("-n", hub, "link", "add", BRIDGE, "type", "bridge");
    ip("-n", hub, "link", "set", BRIDGE, "up");
    ip("link", "add", uplink(pid), "type", "veth", "peer", "name", "suite", "netns", hub);
    ip("-n", hub, "link", "set", "suite", "master", BRIDGE, "up");
    ip("addr", "add", subnet.gateway() + "/24", "dev", uplink(pid));
    ip("link", "set", uplink(pid), "up");
    return subnet;
  }

  static List<Subnet.Route> routes() {
    try {
      return Subnet.routes(Files.readAllLines(Path.of("/proc/net/route")));
    } catch (IOException e) {
      throw new UncheckedIOException("The routes of this machine cannot be read", e);
    }
  }

  @Override
  public Machine add(Blueprint blueprint) {
    String hub = namespace(HUB);
    String namespace = namespace(blueprint.name());
    String port = "port" + ++cables;
    ip("netns", "add", namespace);
    ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    ip("-n", hub, "link", "set", port, "master", BRIDGE, "up");
    ip("-n", namespace, "link", "set", "lo", "up");
    ip("-n", namespace, "addr", "add", blueprint.address() + "/24", "dev", "eth0");
    ip("-n", namespace, "link", "set", "eth0", "up");
    return new NamespaceMachine(blueprint, NAMESPACES.resolve(namespace));
  }

  /** A process in a namespace. */
  private final class NamespaceMachine implements Machine {
    private final Blueprint blueprint;
    private final Path network;
    private @Nullable Daemon process;

    NamespaceMachine(Blueprint blueprint, Path network) {
      this.blueprint = blueprint;
      this.network = network;
    }

    @Override
    public Blueprint blueprint() {
      return blueprint;
    }

    /** nsenter becomes the program, so their process ids are one. */
    @Override
    public void start() {
      List<String> command = new ArrayList<>(List.of("nsenter", "--net=" + network));
      command.addAll(blueprint.command());
      process =
          launcher.start(
              blueprint.name(), blueprint.role(), command, blueprint.variables(), blueprint.log());
    }

    @Override
    public boolean isDown() {
      return process == null || process.state() == State.DEAD;
    }

    @Override
    public boolean signal(Signal signal) {
      return process != null && process.signal(signal);
    }

    @Override
    public Optional<Path> network() {
      return Optional.of(network);
    }
  }

  private String namespace(String name) {
    return "baton-" + pid + "-" + name;
  }

  /** At most 15 characters: Linux allows no more. */
  static String uplink(long pid) {
    return "baton" + Long.toString(pid, 36);
  }

  /** The process id of the run that a namespace belongs to; empty: it is not one of ours. */
  static Optional<Long> owner(String namespace) {
    Matcher matcher = OURS.matcher(namespace);
    return matcher.matches() ? Optional.of(Long.valueOf(matcher.group(1))) : Optional.empty();
  }

  @Override
  public void close() {
    remove(pid);
  }

  private void removeLeftovers() {
    namespaces().stream()
        .flatMap(namespace -> owner(namespace).stream())
        .distinct()
        .filter(owner -> owner == pid || ProcessHandle.of(owner).isEmpty())
        .forEach(NamespaceMachines::remove);
  }

  /** Ends what still runs in the namespaces of a run, such as commands of tasks. */
  private static void remove(long owner) {
    List<String> all =
        namespaces().stream()
            .filter(namespace -> owner(namespace).filter(o -> o == owner).isPresent())
            .toList();
    for (String namespace : all) {
      Tool.run(List.of("ip", "netns", "pids", namespace), "")
          .output()
          .lines()
          .filter(line -> line.matches("\\d+"))
          .map(Long::valueOf)
          .flatMap(process -> ProcessHandle.of(process).stream())
          .forEach(ProcessHandle::destroyForcibly);
    }
    List<List<String>> commands = new ArrayList<>();
    if (Files.exists(Path.of("/sys/class/net", uplink(owner)))) {
      commands.add(List.of("ip", "link", "del", uplink(owner)));
    }
    all.forEach(namespace -> commands.add(List.of("ip", "netns", "del", namespace)));
    String failures =
        commands.stream()
            .map(command -> Tool.run(command, ""))
            .filter(result -> !result.succeeded())
            .map(Tool.Result::output)
            .collect(Collectors.joining("; "));
    if (!failures.isEmpty()) {
      throw new IllegalStateException("Expected namespaces to be removed, but: " + failures);
    }
  }

  private static List<String> namespaces() {
    if (!Files.isDirectory(NAMESPACES)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(NAMESPACES)) {
      return files.map(file -> file.getFileName().toString()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException("The network namespaces cannot be listed", e);
    }
  }

  private static void ip(String... arguments) {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments));
    String unused = Tool.require(command, "");
  }
}
