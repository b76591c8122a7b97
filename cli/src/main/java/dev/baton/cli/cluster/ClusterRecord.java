package dev.baton.cli.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What {@code cluster.json} holds.
 *
 * @param etcd members with their client ports
 * @param processes the newest process of each name, dead or alive
 */
public record ClusterRecord(
    String cluster,
    List<Member> etcd,
    List<Member> schedulers,
    List<Member> workers,
    List<Daemon> processes) {
  public ClusterRecord {
    etcd = List.copyOf(etcd);
    schedulers = List.copyOf(schedulers);
    workers = List.copyOf(workers);
    processes = List.copyOf(processes);
  }

  /**
   * A member and where it is found on 127.0.0.1.
   *
   * @param apiPort gRPC; of etcd its clients' port; 0 for workers
   * @param httpPort metrics and health; 0 for etcd, which has them on its clients' port
   * @param slots of a worker, else 0
   * @param trace whether the worker writes a trace file
   */
  public record Member(String id, int apiPort, int httpPort, int slots, boolean trace) {
    static Member etcd(String id, int clientPort) {
      return new Member(id, clientPort, 0, 0, false);
    }

    static Member scheduler(String id, int apiPort, int httpPort) {
      return new Member(id, apiPort, httpPort, 0, false);
    }

    public String apiAddress() {
      return "127.0.0.1:" + apiPort;
    }
  }

  static ClusterRecord empty(String cluster) {
    return new ClusterRecord(cluster, List.of(), List.of(), List.of(), List.of());
  }

  /** Addresses of the schedulers' API. */
  public List<String> endpoints() {
    return schedulers.stream().map(Member::apiAddress).toList();
  }

  public Optional<Daemon> process(String name) {
    return processes.stream().filter(process -> process.name().equals(name)).findFirst();
  }

  boolean isDown(Member member) {
    return process(member.id()).map(p -> p.state() == Daemon.State.DEAD).orElse(true);
  }

  /** With this process in place of an earlier one of its name. */
  ClusterRecord with(Daemon started) {
    List<Daemon> all = new ArrayList<>(processes);
    all.removeIf(process -> process.name().equals(started.name()));
    all.add(started);
    return new ClusterRecord(cluster, etcd, schedulers, workers, all);
  }

  ClusterRecord withEtcd(List<Member> members) {
    return new ClusterRecord(cluster, members, schedulers, workers, processes);
  }

  ClusterRecord withNodes(List<Member> schedulerNodes, List<Member> workerNodes) {
    return new ClusterRecord(cluster, etcd, schedulerNodes, workerNodes, processes);
  }
}
