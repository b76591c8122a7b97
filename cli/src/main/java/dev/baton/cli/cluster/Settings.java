package dev.baton.cli.cluster;

import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.baton.cli.cluster.ClusterRecord.Member;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the files of settings that the nodes of a cluster are started with. */
public final class Settings {
  /** What the keys of the cluster in etcd begin with. */
  public static final String NAMESPACE = "baton";

  private static final YAMLMapper YAML =
      YAMLMapper.builder()
          .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
          .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
          .build();

  private Settings() {}

  /**
   * Settings of a scheduler that listens on loopback.
   *
   * @param etcd each {@code host:port}
   */
  public static Map<String, Object> scheduler(Member node, List<String> etcd) {
    Map<String, Object> settings = common(node, etcd);
    settings.put("listen", Map.of("grpcPort", node.apiPort(), "httpPort", node.httpPort()));
    return settings;
  }

  /** Settings of a worker that listens on loopback and offers everything, commands as well. */
  public static Map<String, Object> worker(Member node, List<String> etcd, @Nullable Path trace) {
    Map<String, Object> settings = common(node, etcd);
    settings.put("listen", Map.of("httpPort", node.httpPort()));
    settings.put("slots", node.slots());
    // "*" alone leaves out shell, which a worker must name; here everything is on loopback.
    settings.put("capabilities", List.of("*", "shell"));
    if (trace != null) {
      settings.put("trace", Map.of("file", trace.toString()));
    }
    return settings;
  }

  private static Map<String, Object> common(Member node, List<String> etcd) {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("id", node.id());
    settings.put("namespace", NAMESPACE);
    settings.put("etcd", Map.of("endpoints", etcd));
    return settings;
  }

  public static void write(Path file, Map<String, Object> settings) {
    try {
      YAML.writeValue(file.toFile(), settings);
    } catch (IOException e) {
      throw new UncheckedIOException("The settings " + file + " cannot be written", e);
    }
  }
}
