package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.environment.Tool;
import dev.baton.cli.cluster.HttpProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What can be seen from inside of a machine's network. */
final class Sight {
  private Sight() {}

  /** Whether a connection is made within two seconds. */
  static boolean connects(Machine from, Machine to, int port) {
    return inside(
            from,
            "timeout",
            "2",
            "bash",
            "-c",
            "exec 3<>/dev/tcp/" + to.blueprint().address() + "/" + port)
        .succeeded();
  }

  /** Rules by which packets are dropped where they arrive at a machine. */
  static long rules(Machine machine) {
    return inside(machine, "iptables", "-w", "5", "-S", "INPUT")
        .output()
        .lines()
        .filter(line -> line.endsWith("-j DROP"))
        .count();
  }

  /** One way is cut and nothing else, and it is open again when the network is restored. */
  static void assertCutsOneWay(MachinesEnvironment environment) {
    int port = MachinesEnvironment.ETCD_PORT;
    Machine s1 = environment.machine("s1");
    Machine s2 = environment.machine("s2");
    Machine etcd = environment.machine("etcd-0");
    assertTrue(connects(s1, etcd, port));
    environment.impair("s1", "etcd-0", Impairment.CUT);
    assertFalse(connects(s1, etcd, port), "a cut way must be silent");
    assertTrue(connects(s2, etcd, port), "others are not cut off");
    assertTrue(HttpProbe.isEtcdHealthy(etcd.blueprint().address(), port), "nor is the suite");
    assertEquals(1, rules(etcd));
    assertEquals(0, rules(s1), "the other direction is open");
    environment.restoreNetwork();
    assertEquals(0, rules(etcd));
    assertTrue(connects(s1, etcd, port));
  }

  private static Tool.Result inside(Machine machine, String... command) {
    List<String> all =
        new ArrayList<>(List.of("nsenter", "--net=" + machine.network().orElseThrow()));
    all.addAll(List.of(command));
    return Tool.run(all, "");
  }

  static boolean canDrop() {
    return Firewall.obstacle(Map.copyOf(System.getenv())).isEmpty();
  }
}
