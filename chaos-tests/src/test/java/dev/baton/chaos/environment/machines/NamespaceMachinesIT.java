package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.environment.Layout;
import dev.baton.chaos.environment.Tool;
import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real cluster in real namespaces; needs root. */
class NamespaceMachinesIT {
  private static final Path NAMESPACES = Path.of("/run/netns");

  @TempDir private Path folder = Path.of("");
  private final List<Observation> journal = new CopyOnWriteArrayList<>();
  private final List<String> progress = new CopyOnWriteArrayList<>();
  private final Map<String, String> variables = new HashMap<>(System.getenv());

  @BeforeEach
  void needsNamespaces() {
    assumeTrue(namespacesCanBeMade(), "absent: netns");
  }

  private boolean namespacesCanBeMade() {
    try {
      NamespaceMachines.require(variables);
      Optional<String> obstacle = Firewall.obstacle(variables);
      obstacle.ifPresent(System.out::println);
      return obstacle.isEmpty();
    } catch (ExitException e) {
      System.out.println(e.sentence());
      return false;
    }
  }

  @AfterEach
  void tellsWhatHappened() {
    progress.forEach(System.out::println);
  }

  @Test
  void cutsOneWayHealsAndLeavesNothing() throws Exception {
    String leftover = leaveSomethingBehind();
    List<ProcessHandle> processes = new ArrayList<>();
    try (MachinesEnvironment environment = environment()) {
      environment.start(
          new Layout(3, 2, 1, 4, Set.of(Ability.SIGNALS, Ability.CUTS, Ability.ETCD_CUTS)));
      assertFalse(Files.exists(NAMESPACES.resolve(leftover)), "a leftover is still there");
      processes.addAll(processes());
      assertTrue(processes.size() >= 6, processes.toString());

      Sight.assertCutsOneWay(environment);
      losesPackets(environment);
      killsAndStartsAgain(environment);
      processes.addAll(processes());
    }
    assertEquals(List.of(), namespaces());
    assertFalse(
        Files.exists(
            Path.of("/sys/class/net", NamespaceMachines.uplink(ProcessHandle.current().pid()))));
    Awaitility.await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
    assertTrue(Files.size(folder.resolve("logs/s1.log")) > 0);
    assertFalse(Files.exists(folder.resolve("cluster")));
  }

  private MachinesEnvironment environment() throws IOException {
    variables.put("BATON_HOME", Path.of("..").toRealPath().toString());
    return new MachinesEnvironment(
        folder, new NamespaceMachines(folder, variables), variables, journal::add, progress::add);
  }

  /** A namespace with a process, of a program that is dead. */
  private static String leaveSomethingBehind() throws Exception {
    Process program = new ProcessBuilder("true").start();
    assertTrue(program.waitFor(10, TimeUnit.SECONDS));
    String name = "baton-" + program.pid() + "-hub";
    String unused = Tool.require(List.of("ip", "netns", "add", name), "");
    new ProcessBuilder("nsenter", "--net=" + NAMESPACES.resolve(name), "sleep", "600").start();
    return name;
  }

  private static void losesPackets(MachinesEnvironment environment) {
    environment.impair("w1", "s1", Impairment.slow(Duration.ZERO, 0.5));
    assertEquals(1, Sight.rules(environment.machine("s1")));
    environment.restoreNetwork();
  }

  private void killsAndStartsAgain(MachinesEnvironment environment) {
    assertEquals(
        1, Stream.of("etcd-0", "etcd-1", "etcd-2").filter(environment::isEtcdLeader).count());
    environment.signal("s2", Signal.KILL);
    environment.awaitDown("s2", Duration.ofSeconds(5));
    // Its last thread closes its ports a moment after its first one is dead.
    Awaitility.await()
        .atMost(Duration.ofSeconds(5))
        .until(() ->
            !Sight.connects(
                environment.machine("s1"),
                environment.machine("s2"),
                MachinesEnvironment.HTTP_PORT));
    environment.launch("s2");
    environment.awaitReady("s2");
    assertEquals(
        List.of(Change.STARTED, Change.KILLED, Change.STARTED),
        journal.stream()
            .map(ProcessChanged.class::cast)
            .filter(change -> change.process().equals("s2"))
            .map(ProcessChanged::change)
            .toList());
    assertEquals(List.of("w2"), environment.addWorkers(1));
  }

  private static List<ProcessHandle> processes() throws IOException {
    return namespaces().stream()
        .flatMap(name ->
            Tool.run(List.of("ip", "netns", "pids", name), "")
                .output()
                .lines()
                .map(Long::valueOf)
                .flatMap(pid -> ProcessHandle.of(pid).stream()))
        .toList();
  }

  private static List<String> namespaces() throws IOException {
    long own = ProcessHandle.current().pid();
    try (Stream<Path> files = Files.list(NAMESPACES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> NamespaceMachines.owner(name).filter(pid -> pid == own).isPresent())
          .toList();
    }
  }
}
