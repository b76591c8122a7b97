package dev.baton.cli.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * Asks a process how it is.
 *
 * @param status of HTTP; 0: no answer
 */
public record HttpProbe(int status, String body) {
  private static final int TIMEOUT_MILLIS = 2000;

  /** One GET to a port of this machine, within two seconds. */
  public static HttpProbe get(int port, String path) {
    return get("127.0.0.1", port, path);
  }

  /** One GET, within two seconds. */
  public static HttpProbe get(String host, int port, String path) {
    try {
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://" + host + ":" + port + path).toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MILLIS);
      connection.setReadTimeout(TIMEOUT_MILLIS);
      try {
        int status = connection.getResponseCode();
        try (InputStream body =
            status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
          return new HttpProbe(
              status, body == null ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8));
        }
      } finally {
        connection.disconnect();
      }
    } catch (IOException e) {
      return new HttpProbe(0, "");
    }
  }

  /** A node says that it is ready. */
  public static boolean isReady(String host, int httpPort) {
    return get(host, httpPort, "/readyz").status() == 200;
  }

  static boolean isEtcdHealthy(int clientPort) {
    return isEtcdHealthy("127.0.0.1", clientPort);
  }

  /** A member of etcd says that it is in touch with a leader. */
  public static boolean isEtcdHealthy(String host, int clientPort) {
    return get(host, clientPort, "/health").body().contains("\"true\"");
  }

  /** A member of etcd says that it leads. */
  public static boolean isEtcdLeader(String host, int clientPort) {
    return get(host, clientPort, "/metrics").body().contains("\netcd_server_is_leader 1");
  }
}
