package dev.baton.node;

import dev.baton.coordination.EtcdConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where etcd is, and how to come in.
 *
 * @param endpoints the members, each {@code host:port}; one suffices to begin with, all are better
 * @param startTimeout how long a starting process waits for an answer
 * @param user name in etcd, with {@code password}
 * @param ca certificates (PEM) that etcd's own must come from; given: TLS is used
 * @param cert our certificate (PEM), if etcd asks for one, with {@code key}
 */
public record EtcdSettings(
    @Flag(value = "--etcd", help = "members of etcd: host:port,host:port,...")
        List<HostPort> endpoints,
    @Default("30s") Duration startTimeout,
    @Nullable String user,
    @Nullable Secret password,
    @Nullable Path ca,
    @Nullable Path cert,
    @Nullable Path key) {

  public EtcdSettings {
    endpoints = List.copyOf(endpoints);
    require(
        !endpoints.isEmpty() && endpoints.size() <= 16,
        "endpoints: 1 to 16 members are expected, but got " + endpoints.size());
    require(
        endpoints.stream().noneMatch(e -> e.port() == 0),
        "endpoints: a member has a port other than 0");
    require(
        !startTimeout.isNegative() && startTimeout.compareTo(Duration.ofHours(1)) <= 0,
        "startTimeout: 0s to 1h is expected");
    require(
        (user == null) == (password == null), "user and password are given together or not at all");
    require((cert == null) == (key == null), "cert and key are given together or not at all");
    require(cert == null || ca != null, "cert and key need ca: without it there is no TLS");
  }

  /** The members, each {@code host:port}. */
  public List<String> members() {
    return endpoints.stream().map(HostPort::toString).toList();
  }

  /** What a client of etcd is made from. */
  public EtcdConfig config() {
    return new EtcdConfig(
        members(),
        user,
        password == null ? null : password.reveal(),
        ca == null ? null : new EtcdConfig.Tls(ca, cert, key));
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new IllegalArgumentException(sentence);
    }
  }
}
