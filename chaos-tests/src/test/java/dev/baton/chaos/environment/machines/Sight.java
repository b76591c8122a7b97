package dev.baton.chaos.environment.machines;

import dev.baton.chaos.environment.Tool;
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
