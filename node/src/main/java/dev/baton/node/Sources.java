package dev.baton.node;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where settings come from; a later one overrides an earlier one.
 *
 * @param file a YAML file, or none
 * @param environment variables by name; {@code BATON_ETCD_ENDPOINTS} is {@code etcd.endpoints}
 * @param commandLine values by path
 */
public record Sources(
    @Nullable Path file, Map<String, String> environment, Map<String, String> commandLine) {
  public Sources {
    environment = Map.copyOf(environment);
    commandLine = Map.copyOf(commandLine);
  }

  /** Settings by path alone, without a file or the environment. */
  public static Sources of(Map<String, String> commandLine) {
    return new Sources(null, Map.of(), commandLine);
  }
}
