package dev.baton.cli.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.cli.cluster.LocalCluster.Size;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalClusterTest {
  @TempDir private Path directory = Path.of("");
  private final List<String> progress = new ArrayList<>();
  private final List<Daemon> started = new ArrayList<>();
  private ClusterFolder folder = ClusterFolder.of(Map.of(), Path.of(""), "test");

  @BeforeEach
  void prepare() throws IOException {
    folder = ClusterFolder.of(Map.of(), directory, "test");
    Files.createDirectories(folder.logs());
  }

  @AfterEach
  void stop() {
    cluster().down(Duration.ofSeconds(5), false);
    started.forEach(process -> process.signal(Signal.KILL));
  }

  @Test
  void shouldStartAProcessInASessionOfItsOwn() throws IOException {
    Daemon process = sleep("a");

    String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
    String session = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[3];
    assertEquals(Long.toString(process.pid()), session);
    assertEquals(State.RUNNING, process.state());
  }

  @Test
  void shouldNeverSignalAProcessThatStartedAtAnotherTime() {
    Daemon process = sleep("a");
    Daemon earlier =
        new Daemon(
            "a", Role.WORKER, process.pid(), process.startTicks() - 1, process.bootId(), "a.log");
    Daemon beforeReboot =
        new Daemon("a", Role.WORKER, process.pid(), process.startTicks(), "other", "a.log");

    assertEquals(State.DEAD, earlier.state());
    assertFalse(earlier.signal(Signal.KILL));
    assertFalse(beforeReboot.signal(Signal.KILL));
    assertEquals(State.RUNNING, process.state());
  }

  @Test
  void shouldTellAStoppedProcessFromADeadOne() {
    Daemon process = sleep("a");
    assertTrue(process.signal(Signal.STOP));
    Awaitility.await().until(() -> process.state() == State.STOPPED);
    assertTrue(process.signal(Signal.CONT));
    Awaitility.await().until(() -> process.state() == State.RUNNING);
    assertTrue(process.signal(Signal.KILL));
    Awaitility.await().until(() -> process.state() == State.DEAD);
    assertFalse(process.signal(Signal.KILL));
  }

  @Test
  void shouldStopWhatIsRecordedAndKillWhatDoesNotListen() {
    Daemon gentle = sleep("gentle");
    Daemon stopped = sleep("stopped");
    stopped.signal(Signal.STOP);
    Daemon deaf =
        start("deaf", "/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1; done");
    Awaitility.await().until(() -> folder.lastLogLines(deaf, 1).equals("deaf"));
    folder.save(ClusterRecord.empty("test").with(gentle).with(stopped).with(deaf));

    List<Daemon> ended = cluster().down(Duration.ofSeconds(1), true);

    assertEquals(3, ended.size());
    assertEquals(State.DEAD, gentle.state());
    assertEquals(State.DEAD, stopped.state());
    assertEquals(State.DEAD, deaf.state());
    assertEquals(List.of("deaf had not ended after 1 s and was killed"), progress);
    assertFalse(Files.exists(folder.path()));
  }

  @Test
  void shouldStartEtcdAgainOnItsDataAndOnlyWhatIsMissing() {
    Size size = new Size(null, null, 3, 1, false);
    ClusterRecord first = cluster().upEtcd(size);
    first.process("etcd-1").orElseThrow().signal(Signal.KILL);
    Awaitility.await().until(() -> first.process("etcd-1").orElseThrow().state() == State.DEAD);

    ClusterRecord second = cluster().upEtcd(size);

    assertEquals(first.etcd(), second.etcd());
    assertEquals(first.process("etcd-0"), second.process("etcd-0"));
    assertNotEquals(first.process("etcd-1"), second.process("etcd-1"));
    assertTrue(
        second.etcd().stream().allMatch(member -> HttpProbe.isEtcdHealthy(member.apiPort())));
    ExitException refused =
        assertThrows(
            ExitException.class, () -> cluster().upEtcd(new Size(null, null, 1, 1, false)));
    assertEquals(ExitCode.USAGE, refused.code());
    assertEquals(3, cluster().down(Duration.ofSeconds(5), false).size());
    assertTrue(second.processes().stream().allMatch(process -> process.state() == State.DEAD));
  }

  @Test
  void shouldStartOneMemberAloneAndWaitForIt() {
    ClusterRecord first = cluster().upEtcd(new Size(null, null, 3, 1, false));
    for (String name : List.of("etcd-0", "etcd-2")) {
      Daemon process = first.process(name).orElseThrow();
      process.signal(Signal.KILL);
      Awaitility.await().until(() -> process.state() == State.DEAD);
    }

    Daemon again = cluster().start("etcd-2");
    cluster().awaitReady("etcd-2");

    ClusterRecord second = folder.load().orElseThrow();
    assertEquals(again, second.process("etcd-2").orElseThrow());
    assertEquals(State.DEAD, second.process("etcd-0").orElseThrow().state());
    assertTrue(HttpProbe.isEtcdHealthy(second.etcd().get(2).apiPort()));
    assertEquals(again, cluster().start("etcd-2"), "one that runs is left alone");
    ExitException unknown = assertThrows(ExitException.class, () -> cluster().start("s9"));
    assertEquals("the cluster 'test' has no member 's9'", unknown.sentence());
  }

  @Test
  void shouldShowTheLastLinesOfAProcessThatDidNotStart() throws IOException {
    Files.createDirectories(folder.etcd());
    Files.writeString(folder.etcd().resolve("etcd-0"), "a file where a folder should be");

    ExitException failed =
        assertThrows(
            ExitException.class, () -> cluster().upEtcd(new Size(null, null, 1, 1, false)));

    assertEquals(ExitCode.FAILED, failed.code());
    assertTrue(
        failed.sentence().startsWith("etcd-0 ended while it started; the end of its log "),
        failed.sentence());
    assertTrue(failed.sentence().lines().count() > 1, failed.sentence());
  }

  @Test
  void shouldChooseOnlyFreePorts() throws IOException {
    try (var taken = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
      Ports ports = new Ports();
      assertNotEquals(taken.getLocalPort(), ports.keep(taken.getLocalPort()));
      int kept = ports.choose();
      assertNotEquals(kept, ports.keep(kept));
    }
  }

  private LocalCluster cluster() {
    return new LocalCluster(folder, directory, Map.of(), progress::add);
  }

  private Daemon sleep(String name) {
    return start(name, "sleep", "600");
  }

  private Daemon start(String name, String... command) {
    Daemon process =
        new Launcher(folder, directory, Map.of())
            .start(
                name,
                Role.WORKER,
                List.of(command),
                Map.of(),
                folder.logs().resolve(name + ".log"));
    started.add(process);
    return process;
  }
}
