package dev.baton.chaos.environment;

import dev.baton.cli.cluster.ClusterFolder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Where a chaos run keeps the files of its cluster. The logs stay when the cluster is gone. */
public final class RunFolder {
  private final Path path;
  private final Map<String, String> environment;
  private final ClusterFolder cluster;

  /**
   * A folder that exists; nothing is made in it yet.
   *
   * @param workingDirectory of all processes
   * @param environment of this program
   */
  public RunFolder(Path path, Path workingDirectory, Map<String, String> environment) {
    this.path = path;
    Map<String, String> own = new HashMap<>(environment);
    own.put("BATON_DIR", path.toString());
    this.environment = Map.copyOf(own);
    this.cluster = ClusterFolder.of(this.environment, workingDirectory, "cluster");
  }

  /** That of this program, but with this folder for clusters. */
  public Map<String, String> environment() {
    return environment;
  }

  public ClusterFolder cluster() {
    return cluster;
  }

  /** The data of a member of etcd. */
  public Path disk(String member) {
    return cluster.etcd().resolve(member);
  }

  /** Where a worker notes what it received, started and ended. */
  public Path trace(String worker) {
    return cluster.trace(worker);
  }

  /** The file to which commands of shell tasks append. */
  public Path witness() {
    return path.resolve("witness");
  }

  /** Folder of how wrong members' clocks are. */
  public Path clocks() {
    return path.resolve("clocks");
  }

  /** Folder of the logs of all processes. */
  public Path logs() {
    return path.resolve("logs");
  }
}
