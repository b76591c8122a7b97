package dev.baton.cli.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The folder of one local cluster: {@code .baton/<cluster>}, or under {@code BATON_DIR}. */
public final class ClusterFolder {
  private static final String DEFAULT_CLUSTER = "default";
  private static final String RECORD = "cluster.json";
  private static final JsonMapper MAPPER =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final String cluster;
  private final Path path;

  private ClusterFolder(String cluster, Path path) {
    this.cluster = cluster;
    this.path = path;
  }

  /**
   * The folder that a command means; it need not exist.
   *
   * @param cluster null: what the environment says, else the default
   */
  public static ClusterFolder of(
      Map<String, String> environment, Path workingDirectory, @Nullable String cluster) {
    String name =
        cluster != null ? cluster : environment.getOrDefault("BATON_CLUSTER", DEFAULT_CLUSTER);
    if (!name.matches("[a-z0-9-]{1,32}")) {
      throw new ExitException(
          ExitCode.USAGE,
          "the name of a cluster is 1 to 32 of a-z, 0-9 and -, but got '" + name + "'");
    }
    String base = environment.getOrDefault("BATON_DIR", "");
    Path folder = workingDirectory.resolve(base.isEmpty() ? ".baton" : base);
    return new ClusterFolder(name, folder.resolve(name));
  }

  public String cluster() {
    return cluster;
  }

  public Path path() {
    return path;
  }

  public Path logs() {
    return path.resolve("logs");
  }

  /** Data of etcd, a folder for each member. */
  public Path etcd() {
    return path.resolve("etcd");
  }

  /** Where a worker notes what it received, started and ended. */
  public Path trace(String worker) {
    return path.resolve(worker + ".trace");
  }

  public Path settings(String node) {
    return path.resolve("settings").resolve(node + ".yaml");
  }

  /** Addresses of the schedulers of the recorded cluster; none if there is no record. */
  public List<String> endpoints() {
    return load().map(ClusterRecord::endpoints).orElse(List.of());
  }

  public Optional<ClusterRecord> load() {
    Path file = path.resolve(RECORD);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(MAPPER.readValue(file.toFile(), ClusterRecord.class));
    } catch (JsonProcessingException e) {
      throw new ExitException(
          ExitCode.CONFIGURATION,
          file
              + " cannot be understood ("
              + e.getOriginalMessage()
              + "): end the processes it names"
              + " by hand and delete "
              + path,
          e);
    } catch (IOException e) {
      throw new ExitException(
          ExitCode.CONFIGURATION, file + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** Written beside and moved into place, so a reader never meets half of it. */
  void save(ClusterRecord record) {
    Path fresh = path.resolve(RECORD + ".new");
    try {
      Files.createDirectories(path);
      MAPPER.writerWithDefaultPrettyPrinter().writeValue(fresh.toFile(), record);
      Files.move(
          fresh,
          path.resolve(RECORD),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("The folder " + path + " cannot be written", e);
    }
  }

  /** One command at a time changes a cluster. */
  <T> T locked(Supplier<T> change) {
    try {
      Files.createDirectories(logs());
      Files.createDirectories(path.resolve("settings"));
      try (FileChannel channel =
          FileChannel.open(
              path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        if (tryLock(channel) == null) {
          throw new ExitException(
              ExitCode.REFUSED,
              "another command is changing the cluster '" + cluster + "' now: wait for it to end");
        }
        return change.get();
      }
    } catch (IOException e) {
      throw new ExitException(
          ExitCode.CONFIGURATION,
          "the folder "
              + path
              + " cannot be written ("
              + e.getMessage()
              + "): work in another directory, or set BATON_DIR",
          e);
    }
  }

  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  /** The end of a log, for a message about its process. */
  String lastLogLines(Daemon process, int count) {
    return Readiness.lastLines(path.resolve(process.log()), count);
  }

  /** Deletes the folder with all data. */
  public void purge() {
    if (!Files.exists(path)) {
      return;
    }
    try (Stream<Path> all = Files.walk(path)) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path each : deepestFirst) {
        Files.deleteIfExists(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The folder " + path + " cannot be deleted", e);
    }
  }
}
