package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.github.dockerjava.api.DockerClient;
import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.environment.Layout;
import dev.baton.chaos.history.Observation;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.HttpProbe;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;

/** A real cluster in real containers; needs an engine. */
class ContainerMachinesIT {
  private static final List<String> LABEL = List.of("dev.baton.chaos");

  @TempDir private Path folder = Path.of("");
  private final List<Observation> journal = new CopyOnWriteArrayList<>();
  private final List<String> progress = new CopyOnWriteArrayList<>();
  private final Map<String, String> variables = new HashMap<>(System.getenv());

  @BeforeEach
  void needsAnEngine() {
    assumeTrue(dockerAnswers(), "absent: docker");
  }

  @AfterEach
  void tellsWhatHappened() {
    progress.forEach(System.out::println);
  }

  private static boolean dockerAnswers() {
    try {
      ContainerMachines.require();
      return true;
    } catch (ExitException e) {
      return false;
    }
  }

  @Test
  void killsCutsStartsAgainAndLeavesNothing() throws IOException {
    try (MachinesEnvironment environment = environment()) {
      environment.start(new Layout(3, 2, 1, 4, Set.of(Ability.SIGNALS, Ability.CUTS)));
      stopsAndGoesOn(environment);
      killsAndStartsAgain(environment);
      if (Sight.canDrop()) {
        Sight.assertCutsOneWay(environment);
      }
      assertEquals(List.of("w2"), environment.addWorkers(1));
    }
    DockerClient docker = DockerClientFactory.instance().client();
    assertEquals(
        List.of(), docker.listContainersCmd().withShowAll(true).withLabelFilter(LABEL).exec());
    assertEquals(List.of(), docker.listNetworksCmd().withFilter("label", LABEL).exec());
    assertTrue(Files.size(folder.resolve("logs/s1.log")) > 0);
    assertFalse(Files.exists(folder.resolve("cluster")));
  }

  private MachinesEnvironment environment() throws IOException {
    variables.put("BATON_HOME", Path.of("..").toRealPath().toString());
    return new MachinesEnvironment(
        folder,
        new ContainerMachines(folder, variables, progress::add),
        variables,
        journal::add,
        progress::add);
  }

  private static void stopsAndGoesOn(MachinesEnvironment environment) {
    String address = environment.machine("s2").blueprint().address();
    environment.signal("s2", Signal.STOP);
    assertFalse(
        HttpProbe.isReady(address, MachinesEnvironment.HTTP_PORT),
        "one that stands still answers nothing");
    assertFalse(environment.isDown("s2"));
    environment.signal("s2", Signal.CONT);
    environment.awaitReady("s2");
  }

  private static void killsAndStartsAgain(MachinesEnvironment environment) {
    environment.signal("w1", Signal.KILL);
    environment.awaitDown("w1", Duration.ofSeconds(10));
    assertTrue(environment.machine("w1").network().isEmpty());
    environment.launch("w1");
    environment.awaitReady("w1");
  }
}
