package dev.baton.worker;

import dev.baton.node.Default;
import dev.baton.node.EtcdSettings;
import dev.baton.node.Flag;
import dev.baton.node.ListenSettings;
import dev.baton.node.LogSettings;
import dev.baton.worker.builtin.BuiltIns;
import dev.baton.worker.protocol.WorkerProtocol;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a worker process.
 *
 * @param id unique in the cluster; the same over restarts
 * @param namespace of the cluster in etcd
 * @param slots attempts that run at once
 * @param capabilities built-in handlers to offer; {@code *} is all but {@code shell}
 * @param labels something to know the worker by
 * @param drainLimit how long attempts may go on after SIGTERM
 * @param insecureShell offer {@code shell} though others than this machine reach the ports
 */
record WorkerSettings(
    @Flag(value = "--id", help = "name of this worker, unique in the cluster") String id,
    @Flag(value = "--namespace", help = "the cluster's namespace in etcd") @Default("baton")
        String namespace,
    EtcdSettings etcd,
    ListenSettings listen,
    @Flag(value = "--slots", help = "how many attempts run at once") @Default("16") int slots,
    @Flag(
            value = "--capabilities",
            help = "built-in handlers to offer, such as *,shell; * is all but shell")
        @Default("*")
        List<String> capabilities,
    Map<String, String> labels,
    @Default("30s") Duration drainLimit,
    @Flag(
            value = "--insecure-shell",
            help = "offer shell though the ports are open to others, without authentication")
        @Default("false")
        boolean insecureShell,
    Trace trace,
    LogSettings log) {
  private static final String ALL = "*";
  private static final int MAX_LABELS = 16;

  /**
   * @param file where assignments, starts and ends of handlers are appended, for benchmarks
   */
  record Trace(@Nullable Path file) {}

  WorkerSettings {
    capabilities = List.copyOf(capabilities);
    labels = Map.copyOf(labels);
    require(
        WorkerBuilder.ID.matcher(id).matches(),
        "id: 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and minus are expected, but got '"
            + id
            + "'");
    require(
        namespace.matches("[a-z0-9-]{1,32}"),
        "namespace: 1 to 32 characters of a-z, 0-9 and minus are expected, but got '"
            + namespace
            + "'");
    require(
        slots >= 1 && slots <= WorkerProtocol.MAX_SLOTS,
        "slots: 1 to " + WorkerProtocol.MAX_SLOTS + " are expected, but got " + slots);
    require(
        !drainLimit.isNegative() && drainLimit.compareTo(Duration.ofHours(1)) <= 0,
        "drainLimit: 0s to 1h is expected");
    require(labels.size() <= MAX_LABELS, "labels: at most " + MAX_LABELS + " are expected");
    Set<String> known = new TreeSet<>(BuiltIns.harmless().keySet());
    known.add(BuiltIns.SHELL);
    require(!capabilities.isEmpty(), "capabilities: at least one is expected, of " + known);
    for (String capability : capabilities) {
      require(
          capability.equals(ALL) || known.contains(capability),
          "capabilities: * or some of %s are expected, but got '%s'; handlers of your own need a worker of your own (examples/java-worker)"
              .formatted(known, capability));
    }
    require(
        !capabilities.contains(BuiltIns.SHELL) || !listen.open() || insecureShell,
        "capabilities: 'shell' runs any command, and the ports are open to others without authentication; leave it out, leave insecureBind out, or accept it with --insecure-shell");
  }

  /** The types that this worker offers. */
  Set<String> types() {
    Set<String> types = new TreeSet<>(capabilities);
    if (types.remove(ALL)) {
      types.addAll(BuiltIns.harmless().keySet());
    }
    return types;
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new IllegalArgumentException(sentence);
    }
  }
}
