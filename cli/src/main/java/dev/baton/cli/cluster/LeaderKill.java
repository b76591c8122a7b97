package dev.baton.cli.cluster;

import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.Daemon.State;
import dev.baton.client.BatonClient;
import dev.baton.client.BatonException;
import dev.baton.client.ClientOptions;
import dev.baton.client.Endpoint;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.Node;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What came of signalling the leader.
 *
 * @param signalNanos when the signal was sent, by the monotonic clock
 * @param tookMillis from the signal until a node said that another leads
 */
public record LeaderKill(
    String killed,
    long pid,
    Signal signal,
    long oldTerm,
    String leader,
    long term,
    long signalNanos,
    long tookMillis) {
  private static final Duration ASK = Duration.ofSeconds(5);
  private static final Duration TAKE_OVER_BOUND = Duration.ofSeconds(60);
  private static final Duration END_BOUND = Duration.ofSeconds(35);
  private static final Duration POLL = Duration.ofMillis(25);

  /** Finds out who leads, signals it, and waits for the next leader. */
  public static LeaderKill run(ClusterFolder folder, Signal signal) {
    ClusterRecord record =
        folder
            .load()
            .orElseThrow(() ->
                new ExitException(
                    ExitCode.USAGE,
                    "there is no local cluster '"
                        + folder.cluster()
                        + "' here: 'baton up' starts one"));
    ListNodesResponse before = ask(record.endpoints(), ASK);
    String leader =
        leaderOf(before)
            .orElseThrow(() ->
                new ExitException(
                    ExitCode.UNREACHABLE,
                    "nobody leads now: wait for 'baton status' to name a leader"));
    Daemon process =
        record
            .process(leader)
            .orElseThrow(() ->
                new ExitException(
                    ExitCode.REFUSED,
                    "the leader " + leader + " was not started by 'baton up': end it yourself"));
    List<String> others =
        record.schedulers().stream()
            .filter(node -> !node.id().equals(leader))
            .map(ClusterRecord.Member::apiAddress)
            .toList();
    if (others.isEmpty()) {
      throw new ExitException(
          ExitCode.REFUSED,
          leader + " is the only scheduler: 'baton up --schedulers 3' adds two that can take over");
    }
    ListNodesResponse after;
    long signalledNanos;
    long tookNanos;
    // Connected before: what is measured is not to wait for this observer.
    try (BatonClient client = client(others, ASK)) {
      client.listNodes();
      signalledNanos = System.nanoTime();
      if (!process.signal(signal)) {
        throw new ExitException(
            ExitCode.REFUSED, "process " + process.pid() + " of the leader " + leader + " is gone");
      }
      after = awaitNext(client, before, leader);
      tookNanos = System.nanoTime() - signalledNanos;
    }
    if (signal != Signal.STOP) {
      // One that still drains would look alive to the next 'up'.
      Polling.until(
          END_BOUND,
          POLL,
          () -> process.state() == State.DEAD ? Optional.of(true) : Optional.empty());
    }
    return new LeaderKill(
        leader,
        process.pid(),
        signal,
        before.getTerm(),
        leaderOf(after).orElse(""),
        after.getTerm(),
        signalledNanos,
        tookNanos / 1_000_000);
  }

  private static ListNodesResponse awaitNext(
      BatonClient client, ListNodesResponse before, String leader) {
    return Polling.until(
            TAKE_OVER_BOUND,
            POLL,
            () -> {
              try {
                ListNodesResponse nodes = client.listNodes();
                boolean other = leaderOf(nodes).filter(id -> !id.equals(leader)).isPresent();
                return other && nodes.getTerm() > before.getTerm()
                    ? Optional.of(nodes)
                    : Optional.<ListNodesResponse>empty();
              } catch (BatonException e) {
                return Optional.empty();
              }
            })
        .orElseThrow(() ->
            new ExitException(
                ExitCode.FAILED,
                "nobody took over from "
                    + leader
                    + " within "
                    + TAKE_OVER_BOUND.toSeconds()
                    + " s: 'baton status' shows the processes and their logs"));
  }

  private static ListNodesResponse ask(List<String> endpoints, Duration timeout) {
    try (BatonClient client = client(endpoints, timeout)) {
      return client.listNodes();
    }
  }

  private static BatonClient client(List<String> endpoints, Duration timeout) {
    return new BatonClient(
        ClientOptions.of(endpoints.stream().map(Endpoint::parse).toList())
            .withCallTimeout(timeout));
  }

  private static Optional<String> leaderOf(ListNodesResponse nodes) {
    return nodes.getNodesList().stream().filter(Node::getLeader).map(Node::getNodeId).findFirst();
  }
}
