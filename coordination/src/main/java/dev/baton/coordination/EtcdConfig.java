package dev.baton.coordination;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How to reach etcd.
 *
 * @param endpoints {@code host:port} or {@code http(s)://host:port} of each member; the first is
 *     tried first
 * @param user null: no authentication
 * @param password of the user; never printed
 * @param tls null: plain text, unless an endpoint says {@code https}
 */
public record EtcdConfig(
    List<String> endpoints, @Nullable String user, @Nullable String password, @Nullable Tls tls) {
  private static final Pattern ENDPOINT =
      Pattern.compile("(https?://)?([^/\\s:]+|\\[[^]]+]):\\d+/?");

  /**
   * PEM files.
   *
   * @param ca whom to trust; null: what the Java runtime trusts
   * @param certificate of this client; null: none is shown
   * @param key of the certificate, PKCS#8
   */
  public record Tls(@Nullable Path ca, @Nullable Path certificate, @Nullable Path key) {
    public Tls {
      if ((certificate == null) != (key == null)) {
        throw new IllegalArgumentException(
            "Expected a client certificate and its key together, but only one of them is set.");
      }
    }
  }

  public EtcdConfig {
    endpoints = List.copyOf(endpoints);
    if (endpoints.isEmpty()) {
      throw new IllegalArgumentException("Expected at least one etcd endpoint, but there is none.");
    }
    for (String endpoint : endpoints) {
      if (!ENDPOINT.matcher(endpoint).matches()) {
        throw new IllegalArgumentException(
            "Expected an etcd endpoint such as 127.0.0.1:2379 or https://etcd-1:2379, but got '"
                + endpoint
                + "'.");
      }
    }
    long secure = endpoints.stream().filter(endpoint -> endpoint.startsWith("https://")).count();
    long plain = endpoints.stream().filter(endpoint -> endpoint.startsWith("http://")).count();
    if (secure > 0 && plain > 0) {
      throw new IllegalArgumentException(
          "Expected all etcd endpoints with https or none, but got " + endpoints + ".");
    }
    if (tls != null && plain > 0) {
      throw new IllegalArgumentException(
          "Expected https etcd endpoints because TLS files are set, but got " + endpoints + ".");
    }
    if (secure > 0 && tls == null) {
      tls = new Tls(null, null, null);
    }
    if ((user == null) != (password == null)) {
      throw new IllegalArgumentException(
          "Expected an etcd user and a password together, but only one of them is set.");
    }
  }

  /** Plain text, without authentication. */
  public static EtcdConfig of(List<String> endpoints) {
    return new EtcdConfig(endpoints, null, null, null);
  }

  /** {@code host:port} of each member. */
  public List<String> targets() {
    return endpoints.stream()
        .map(endpoint -> endpoint.replaceFirst("^https?://", "").replaceFirst("/$", ""))
        .toList();
  }

  @Override
  public String toString() {
    return "EtcdConfig[endpoints=" + endpoints + ", user=" + user + ", tls=" + tls + "]";
  }
}
