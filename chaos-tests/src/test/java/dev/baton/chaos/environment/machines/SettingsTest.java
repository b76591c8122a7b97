package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.baton.cli.cluster.ClusterRecord.Member;
import dev.baton.cli.cluster.Daemon.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
  private static final List<String> ETCD = List.of("10.1.2.11:2379");
  private static final Path TRACE = Path.of("w1.trace");

  @Test
  void shouldBindTheMachinesAddress() {
    Map<String, Object> scheduler =
        MachinesEnvironment.settings(
            Role.SCHEDULER, new Member("s1", 7400, 7401, 0, true), "10.1.2.31", ETCD, TRACE);
    assertEquals(
        Map.of("grpcPort", 7400, "httpPort", 7401, "insecureBind", "10.1.2.31"),
        scheduler.get("listen"));
    assertEquals(Map.of("endpoints", ETCD), scheduler.get("etcd"));
    assertFalse(scheduler.containsKey("insecureShell"));
  }

  @Test
  void shouldLetAWorkerOfferShellThere() {
    Map<String, Object> worker =
        MachinesEnvironment.settings(
            Role.WORKER, new Member("w1", 0, 7401, 8, true), "10.1.2.61", ETCD, TRACE);
    assertEquals(Map.of("httpPort", 7401, "insecureBind", "10.1.2.61"), worker.get("listen"));
    assertEquals(true, worker.get("insecureShell"));
    assertEquals(8, worker.get("slots"));
    assertEquals(Map.of("file", "w1.trace"), worker.get("trace"));
  }
}
