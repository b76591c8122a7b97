package dev.baton.cli.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * Asks a process of this machine how it is.
 *
 * @param status of HTTP; 0: no answer
 */
public record HttpProbe(int status, String body) {
  private static final int TIMEOUT_MILLIS = 2000;

  /** One GET, within two seconds. */
  public static HttpProbe get(int port, String path) {
    try {
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
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

  /** A member of etcd says that it is in touch with a leader. */
  static boolean isEtcdHealthy(int clientPort) {
    return get(clientPort, "/health").body().contains("\"true\"");
  }
}
