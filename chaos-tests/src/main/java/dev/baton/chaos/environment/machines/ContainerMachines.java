package dev.baton.chaos.environment.machines;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.command.CreateNetworkCmd;
import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Container;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Network.Ipam;
import com.github.dockerjava.api.model.Volume;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.NodeCommand;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.node.Logs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.utility.DockerImageName;

/**
 * Docker containers on a network of the run, by Testcontainers. The run's folder has the same path
 * inside as outside. The engine must run on this machine, where its networks can be reached.
 *
 * <p>When a container's process dies, its address is gone as well, as with a machine without power.
 * It is started again on the same address and files.
 *
 * <p>Containers and networks carry a label that names their program; whoever finds one whose
 * program is dead removes it. Testcontainers' own clean-up by a container of its own (Ryuk) is not
 * needed, and its image would have to be pulled.
 */
public final class ContainerMachines implements Machines {
  public static final String NAME = "docker";
  private static final String LABEL = "dev.baton.chaos";
  private static final int TRIES = 10;

  /** Becomes the program; its output goes where the suite finds it. */
  private static final String RUN = "log=$1; shift; exec \"$@\" >>\"$log\" 2>&1";

  private final Path folder;
  private final Map<String, String> environment;
  private final Consumer<String> progress;
  private final DockerClient docker;
  private final List<ContainerMachine> machines = new ArrayList<>();
  private @Nullable Network network;
  private String image = "";

  /**
   * Makes nothing yet.
   *
   * @param environment of this program
   */
  public ContainerMachines(
      Path folder, Map<String, String> environment, Consumer<String> progress) {
    this.folder = folder;
    this.environment = environment;
    this.progress = progress;
    this.docker = connect();
  }

  /** Throws, with the way out, if no engine answers. */
  public static void require() {
    var unused = connect();
  }

  private static DockerClient connect() {
    Logs.silence("org.testcontainers");
    Logs.silence("tc");
    try {
      return DockerClientFactory.instance().client();
    } catch (RuntimeException e) {
      throw new ExitException(
          ExitCode.NOT_INSTALLED,
          "--env docker needs a Docker engine, and none answers at DOCKER_HOST, which is "
              + (System.getenv("DOCKER_HOST") == null ? "not set" : System.getenv("DOCKER_HOST"))
              + ", nor at /var/run/docker.sock: start one, or use --env process",
          e);
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean refusesForTheDead() {
    return false;
  }

  @Override
  public Subnet open() {
    removeLeftovers();
    Subnet subnet = makeNetwork();
    requireReach(subnet);
    image = ContainerImage.ensure(docker, environment, progress);
    return subnet;
  }

  /** The engine refuses a subnet that overlaps with one of its own: then another one is drawn. */
  private Subnet makeNetwork() {
    DockerException refusal = null;
    for (int i = 0; i < TRIES; i++) {
      Subnet subnet = Subnet.draw(ThreadLocalRandom.current(), NamespaceMachines.routes());
      Network made =
          Network.builder().createNetworkCmdModifier(command -> plan(command, subnet)).build();
      try {
        var unused = made.getId();
        network = made;
        return subnet;
      } catch (DockerException e) {
        refusal = e;
      }
    }
    throw new ExitException(
        ExitCode.REFUSED,
        "the Docker engine makes no network: " + (refusal == null ? "" : refusal.getMessage()),
        refusal);
  }

  private static void plan(CreateNetworkCmd command, Subnet subnet) {
    Map<String, String> labels = new HashMap<>();
    if (command.getLabels() != null) {
      labels.putAll(command.getLabels());
    }
    labels.put(LABEL, owner(ProcessHandle.current().pid()));
    command
        .withLabels(labels)
        .withIpam(
            new Ipam()
                .withConfig(
                    new Ipam.Config().withSubnet(subnet.cidr()).withGateway(subnet.gateway())));
  }

  private static void requireReach(Subnet subnet) {
    try {
      InetAddress gateway = InetAddress.getByName(subnet.gateway());
      if (NetworkInterface.getByInetAddress(gateway) == null) {
        throw new ExitException(
            ExitCode.UNREACHABLE,
            "the Docker engine made a network whose gateway "
                + subnet.gateway()
                + " is no address of this machine, so containers can't be reached: run the suite"
                + " where the engine runs, not beside a virtual machine or in another network"
                + " namespace");
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The addresses of this machine cannot be listed", e);
    }
  }

  @Override
  public Machine add(Blueprint blueprint) {
    ContainerMachine machine = new ContainerMachine(blueprint);
    machines.add(machine);
    return machine;
  }

  /** A process in a container. */
  private final class ContainerMachine implements Machine {
    private final Blueprint blueprint;
    private final GenericContainer<?> container;

    ContainerMachine(Blueprint blueprint) {
      this.blueprint = blueprint;
      this.container =
          new GenericContainer<>(DockerImageName.parse(image))
              .withNetwork(network)
              .withLabel(LABEL, owner(ProcessHandle.current().pid()))
              .withCreateContainerCmdModifier(this::plan);
    }

    /** As the user who runs the suite, so that the files are that user's. */
    private void plan(CreateContainerCmd command) {
      List<String> variables = new ArrayList<>(List.of("PATH=/usr/sbin:/usr/bin:/sbin:/bin"));
      if (blueprint.role() != Role.ETCD) {
        variables.add("CLASSPATH=" + NodeCommand.classPath());
      }
      blueprint.variables().forEach((name, value) -> variables.add(name + "=" + value));
      List<String> program =
          new ArrayList<>(
              List.of(
                  RootFiles.tool(environment, "sh").toString(),
                  "-c",
                  RUN,
                  "sh",
                  blueprint.log().toString()));
      program.addAll(blueprint.command());
      HostConfig host = command.getHostConfig();
      command
          .withName("baton-" + ProcessHandle.current().pid() + "-" + blueprint.name())
          .withHostName(blueprint.name())
          .withIpv4Address(blueprint.address())
          .withUser(user())
          .withWorkingDir(folder.toString())
          .withEnv(variables)
          .withEntrypoint(program)
          .withCmd(List.of())
          .withHostConfig(
              (host == null ? new HostConfig() : host)
                  .withBinds(new Bind(folder.toString(), new Volume(folder.toString())))
                  .withTmpFs(Map.of("/tmp", "exec,mode=1777")));
    }

    private String user() {
      try {
        return Files.getAttribute(folder, "unix:uid")
            + ":"
            + Files.getAttribute(folder, "unix:gid");
      } catch (IOException e) {
        throw new UncheckedIOException("The owner of " + folder + " cannot be told", e);
      }
    }

    @Override
    public Blueprint blueprint() {
      return blueprint;
    }

    @Override
    public void start() {
      try {
        if (container.getContainerId() == null) {
          container.start();
        } else {
          docker.startContainerCmd(container.getContainerId()).exec();
        }
      } catch (RuntimeException e) {
        throw new ExitException(
            ExitCode.FAILED,
            "the container of " + blueprint.name() + " could not be started: " + rootOf(e),
            e);
      }
    }

    private String rootOf(Throwable failure) {
      Throwable cause = failure;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      return String.valueOf(cause.getMessage());
    }

    @Override
    public boolean isDown() {
      return pid().isEmpty();
    }

    /** Of its process as the engine sees it; empty: it is dead. */
    private Optional<Long> pid() {
      String id = container.getContainerId();
      if (id == null) {
        return Optional.empty();
      }
      try {
        var state = docker.inspectContainerCmd(id).exec().getState();
        boolean running = Boolean.TRUE.equals(state.getRunning());
        return running ? Optional.ofNullable(state.getPidLong()) : Optional.empty();
      } catch (NotFoundException e) {
        return Optional.empty();
      }
    }

    @Override
    public boolean signal(Signal signal) {
      String id = container.getContainerId();
      if (id == null || isDown()) {
        return false;
      }
      try {
        var unused = docker.killContainerCmd(id).withSignal(signal.name()).exec();
        return true;
      } catch (ConflictException | NotFoundException e) {
        // It has just died.
        return false;
      }
    }

    @Override
    public Optional<Path> network() {
      return pid().map(pid -> Path.of("/proc", pid.toString(), "ns/net"));
    }
  }

  @Override
  public void close() {
    try {
      machines.forEach(machine -> machine.container.stop());
    } finally {
      machines.clear();
      if (network != null) {
        network.close();
        network = null;
      }
    }
  }

  /** Says who made something: a process id means nothing in another space of process ids. */
  private static String owner(long pid) {
    return space() + ":" + pid;
  }

  private static String space() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip()
          + ":"
          + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Whether something was made by a program of this machine that is dead. */
  static boolean isLeftOver(String owner, String space) {
    String number = owner.substring(owner.lastIndexOf(':') + 1);
    return owner.startsWith(space + ":")
        && number.matches("\\d{1,18}")
        && ProcessHandle.of(Long.parseLong(number)).isEmpty();
  }

  private void removeLeftovers() {
    String space = space();
    for (Container container :
        docker.listContainersCmd().withShowAll(true).withLabelFilter(List.of(LABEL)).exec()) {
      if (isLeftOver(container.getLabels().getOrDefault(LABEL, ""), space)) {
        docker.removeContainerCmd(container.getId()).withForce(true).exec();
      }
    }
    for (var left : docker.listNetworksCmd().withFilter("label", List.of(LABEL)).exec()) {
      if (left.getLabels() != null && isLeftOver(left.getLabels().getOrDefault(LABEL, ""), space)) {
        docker.removeNetworkCmd(left.getId()).exec();
      }
    }
  }
}
