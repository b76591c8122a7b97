package dev.baton.chaos.nemesis;

import dev.baton.chaos.store.StoreWatch.Leader;
import dev.baton.cli.cluster.Daemon.Role;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Whom a fault hits, found when it is injected. */
public enum Victim {
  LEADER,
  STANDBY,
  WORKER,
  ETCD_MEMBER,
  ETCD_LEADER;

  private static final Duration LEADER_BOUND = Duration.ofSeconds(60);

  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String find(Scene scene) throws InterruptedException {
    return switch (this) {
      case LEADER -> leader(scene);
      case STANDBY -> {
        String leader = leader(scene);
        yield scene.any(
            scene.alive(Role.SCHEDULER).stream().filter(id -> !id.equals(leader)).toList());
      }
      case WORKER -> scene.any(scene.alive(Role.WORKER));
      case ETCD_MEMBER -> {
        String leader = etcdLeader(scene);
        yield scene.any(scene.alive(Role.ETCD).stream().filter(id -> !id.equals(leader)).toList());
      }
      case ETCD_LEADER -> etcdLeader(scene);
    };
  }

  private static String leader(Scene scene) throws InterruptedException {
    boolean ignored = scene.await(LEADER_BOUND, () -> !scene.leader().node().isEmpty());
    Leader leader = scene.leader();
    if (leader.node().isEmpty()) {
      throw new NobodyThereException("nobody leads for " + LEADER_BOUND.toSeconds() + " s");
    }
    return leader.node();
  }

  private static String etcdLeader(Scene scene) throws InterruptedException {
    List<String> members = scene.alive(Role.ETCD);
    boolean led =
        scene.await(
            LEADER_BOUND, () -> members.stream().anyMatch(scene.environment()::isEtcdLeader));
    if (!led) {
      throw new NobodyThereException(
          "no member of etcd leads for " + LEADER_BOUND.toSeconds() + " s");
    }
    return members.stream().filter(scene.environment()::isEtcdLeader).findFirst().orElse("");
  }
}
