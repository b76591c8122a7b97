package dev.baton.chaos.environment.machines;

import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.environment.Tool;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Drops packets where they arrive, by who sent them: so each direction is cut alone, and the suite,
 * which has another address, reaches everybody. All rules of a machine are replaced at once.
 */
final class Firewall {
  private static final String RESTORE = "iptables-restore";

  private final Map<Machine, Map<String, Impairment>> rules = new HashMap<>();

  /** Why it can't be used here; empty: it can. */
  static Optional<String> obstacle(Map<String, String> environment) {
    if (!Tool.isRoot()) {
      return Optional.of("only root may drop packets of another machine's network");
    }
    if (Tool.find(environment, "nsenter").isEmpty()) {
      return Optional.of("nsenter is not installed: 'apt-get install util-linux'");
    }
    if (Tool.find(environment, RESTORE).isEmpty()) {
      return Optional.of("iptables is not installed: 'apt-get install iptables'");
    }
    return Optional.empty();
  }

  /** Impairs what one machine receives from another. */
  void impair(Machine sender, Machine receiver, Impairment impairment) {
    rules
        .computeIfAbsent(receiver, r -> new TreeMap<>())
        .put(sender.blueprint().address(), impairment);
    apply(receiver);
  }

  /** After a machine's start: its network may be a new one, without rules. */
  void reapply(Machine machine) {
    if (rules.containsKey(machine)) {
      apply(machine);
    }
  }

  void restore() {
    for (Machine machine : List.copyOf(rules.keySet())) {
      rules.remove(machine);
      apply(machine);
    }
  }

  private void apply(Machine machine) {
    Optional<Path> network = machine.network();
    if (network.isEmpty()) {
      // It is down, and gets its rules when it starts.
      return;
    }
    Tool.Result result =
        Tool.run(command(network.get()), table(rules.getOrDefault(machine, Map.of())));
    if (!result.succeeded() && machine.network().equals(network)) {
      throw new IllegalStateException(
          "Expected the rules of "
              + machine.blueprint().name()
              + " to be replaced, but "
              + RESTORE
              + " said: "
              + result.output());
    }
  }

  static List<String> command(Path network) {
    return List.of("nsenter", "--net=" + network, RESTORE, "-w", "5");
  }

  /** The whole table, as {@code iptables-restore} reads it. */
  static String table(Map<String, Impairment> bySender) {
    StringBuilder table = new StringBuilder("*filter\n:INPUT ACCEPT [0:0]\n");
    bySender.forEach((sender, impairment) -> {
      if (!impairment.delay().isZero()) {
        throw new IllegalArgumentException(
            "Expected a cut or a loss, but packets from " + sender + " can't be delayed here.");
      }
      if (impairment.cut() || impairment.loss() > 0) {
        table.append("-A INPUT -s ").append(sender).append("/32");
        if (!impairment.cut()) {
          table.append(
              String.format(
                  Locale.ROOT,
                  " -m statistic --mode random --probability %.4f",
                  impairment.loss()));
        }
        table.append(" -j DROP\n");
      }
    });
    return table.append("COMMIT\n").toString();
  }
}
