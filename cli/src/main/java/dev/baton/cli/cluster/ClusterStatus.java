package dev.baton.cli.cluster;

import dev.baton.cli.cluster.ClusterRecord.Member;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.client.ClientOptions;
import dev.baton.client.Endpoint;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.ListRunsRequest;
import dev.baton.proto.v1.ListWorkersResponse;
import dev.baton.proto.v1.Node;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.Worker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How a local cluster is.
 *
 * @param answer what its schedulers say; null: none of them answers, {@code silence} says why
 */
public record ClusterStatus(
    String cluster, Path folder, List<Part> parts, @Nullable Answer answer, String silence) {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int RUNS = 1000;

  /**
   * One process and its state.
   *
   * @param health of a live one, by its own word; empty for a dead one
   */
  public record Part(
      String name, Role role, State state, long pid, String address, String health, Path log) {}

  /**
   * What the API says.
   *
   * @param leader empty: nobody leads
   * @param workersCordoned whether or not they are there
   * @param runsRunning at most {@link #RUNS}
   */
  public record Answer(
      String leader,
      long term,
      int workersConnected,
      int workersCordoned,
      int slots,
      int slotsUsed,
      int runsRunning,
      boolean moreRuns) {}

  /** Looks at the processes and asks the schedulers. */
  public static ClusterStatus of(ClusterFolder folder) {
    ClusterRecord record =
        folder
            .load()
            .orElseThrow(() ->
                new ExitException(
                    ExitCode.USAGE,
                    "there is no local cluster '"
                        + folder.cluster()
                        + "' in "
                        + folder.path()
                        + ": 'baton up' starts one"));
    List<Part> parts = new ArrayList<>();
    record.etcd().forEach(member -> parts.add(part(folder, record, member, Role.ETCD)));
    record.schedulers().forEach(member -> parts.add(part(folder, record, member, Role.SCHEDULER)));
    record.workers().forEach(member -> parts.add(part(folder, record, member, Role.WORKER)));
    boolean anybody =
        parts.stream().anyMatch(p -> p.role() == Role.SCHEDULER && p.state() == State.RUNNING);
    if (!anybody) {
      return new ClusterStatus(record.cluster(), folder.path(), parts, null, "no scheduler runs");
    }
    try {
      return new ClusterStatus(record.cluster(), folder.path(), parts, ask(record), "");
    } catch (BatonException e) {
      return new ClusterStatus(record.cluster(), folder.path(), parts, null, e.getMessage());
    }
  }

  private static Part part(ClusterFolder folder, ClusterRecord record, Member member, Role role) {
    Optional<Daemon> daemon = record.process(member.id());
    State state = daemon.map(Daemon::state).orElse(State.DEAD);
    int port = role == Role.WORKER ? member.httpPort() : member.apiPort();
    return new Part(
        member.id(),
        role,
        state,
        daemon.map(Daemon::pid).orElse(0L),
        "127.0.0.1:" + port,
        state == State.RUNNING ? health(member, role) : "",
        folder.path().resolve(daemon.map(Daemon::log).orElse("")));
  }

  private static String health(Member member, Role role) {
    if (role == Role.ETCD) {
      return HttpProbe.isEtcdHealthy(member.apiPort()) ? "healthy" : "unhealthy";
    }
    return switch (HttpProbe.get(member.httpPort(), "/readyz").status()) {
      case 200 -> "ready";
      case 0 -> "silent";
      default -> "not ready";
    };
  }

  private static Answer ask(ClusterRecord record) {
    List<Endpoint> endpoints = record.endpoints().stream().map(Endpoint::parse).toList();
    try (BatonClient client =
        new BatonClient(ClientOptions.of(endpoints).withCallTimeout(TIMEOUT))) {
      ListNodesResponse nodes = client.listNodes();
      ListWorkersResponse workers = client.listWorkers();
      var runs =
          client.listRuns(
              ListRunsRequest.newBuilder().setState(RunState.RUN_RUNNING).setLimit(RUNS).build());
      return new Answer(
          nodes.getNodesList().stream()
              .filter(Node::getLeader)
              .map(Node::getNodeId)
              .findFirst()
              .orElse(""),
          nodes.getTerm(),
          count(workers, worker -> worker.getPresence() == Worker.Presence.CONNECTED),
          count(workers, Worker::getCordoned),
          workers.getWorkersList().stream().mapToInt(Worker::getSlots).sum(),
          workers.getWorkersList().stream().mapToInt(Worker::getSlotsUsed).sum(),
          runs.getRunsCount(),
          !runs.getNextPageToken().isEmpty());
    }
  }

  private static int count(ListWorkersResponse workers, Predicate<Worker> which) {
    return (int) workers.getWorkersList().stream().filter(which).count();
  }
}
