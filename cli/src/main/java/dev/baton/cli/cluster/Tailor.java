package dev.baton.cli.cluster;

import java.util.Map;

/** What a caller changes about single nodes of a local cluster, each time one is started. */
public interface Tailor {
  /** Changes nothing. */
  Tailor NONE = new Tailor() {};

  /**
   * The settings to start a node with.
   *
   * @param planned as they would be, with the ports that it will listen on
   */
  default Map<String, Object> settings(String node, Map<String, Object> planned) {
    return planned;
  }

  /** Variables on top of the environment of a node's process. */
  default Map<String, String> environment(String node) {
    return Map.of();
  }
}
