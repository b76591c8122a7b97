package dev.baton.scheduler;

import dev.baton.node.Default;
import dev.baton.node.EtcdSettings;
import dev.baton.node.Flag;
import dev.baton.node.ListenSettings;
import dev.baton.node.LogSettings;
import dev.baton.scheduler.loop.LoopSettings;
import java.time.Duration;

/**
 * The settings of a scheduler process.
 *
 * @param id unique in the cluster; the same over restarts
 * @param namespace of the cluster in etcd
 * @param leaderTtl of the leader's lease: how long a leader that was cut off can hold up the next
 *     one
 * @param compaction whether the leader compacts etcd; {@code off} where others share it
 * @param etcdQuota of etcd: submissions are refused once 80 % of it are in use
 * @param maxLiveTasks tasks of all live runs; submissions past it are refused
 */
record SchedulerSettings(
    @Flag(value = "--id", help = "name of this node, unique in the cluster") String id,
    @Flag(value = "--namespace", help = "the cluster's namespace in etcd") @Default("baton")
        String namespace,
    EtcdSettings etcd,
    ListenSettings listen,
    @Default("5s") Duration leaderTtl,
    @Default("on") Compaction compaction,
    @Default("2147483648") long etcdQuota,
    @Default("500000") int maxLiveTasks,
    Retention retention,
    Snapshot snapshot,
    LogSettings log) {

  /** Whether the leader compacts etcd. */
  enum Compaction {
    ON,
    OFF
  }

  /** How long runs that have ended stay readable: by count, and by age at most. */
  record Retention(@Default("100000") int runs, @Default("7d") Duration age) {
    Retention {
      require(runs >= 0 && runs <= 10_000_000, "runs: 0 to 10000000 are expected");
      require(
          age.compareTo(Duration.ofMinutes(10)) >= 0 && age.compareTo(Duration.ofDays(3650)) <= 0,
          "age: 10m to 3650d is expected");
    }
  }

  /** After how much journal a snapshot is taken. */
  record Snapshot(@Default("67108864") long bytes, @Default("100000") int entries) {
    Snapshot {
      require(bytes >= 65_536, "bytes: at least 65536 are expected");
      require(entries >= 100, "entries: at least 100 are expected");
    }
  }

  SchedulerSettings {
    require(
        id.matches("[A-Za-z0-9._-]{1,64}"),
        "id: 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and minus are expected, but got '"
            + id
            + "'");
    require(
        namespace.matches("[a-z0-9-]{1,32}"),
        "namespace: 1 to 32 characters of a-z, 0-9 and minus are expected, but got '"
            + namespace
            + "'");
    require(
        leaderTtl.compareTo(Duration.ofSeconds(2)) >= 0
            && leaderTtl.compareTo(Duration.ofMinutes(1)) <= 0,
        "leaderTtl: 2s to 1m is expected");
    require(etcdQuota >= 16 << 20, "etcdQuota: at least 16777216 bytes are expected");
    require(maxLiveTasks >= 1, "maxLiveTasks: at least 1 is expected");
  }

  LoopSettings loop() {
    return new LoopSettings(
        id, maxLiveTasks, retention.runs(), retention.age(), snapshot.bytes(), snapshot.entries());
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new IllegalArgumentException(sentence);
    }
  }
}
