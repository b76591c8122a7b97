package dev.baton.chaos.environment.process;

import dev.baton.chaos.environment.Impairment;
import dev.baton.chaos.environment.process.Rules.Way;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The network of a cluster: a loopback address for each member, on which proxies stand before its
 * ports. Members listen on 127.0.0.1 as ever, and are told each other's other addresses.
 */
final class ProxyNetwork implements AutoCloseable {
  private final Rules rules = new Rules();
  private final Callers callers;
  private final Map<String, InetAddress> hosts = new HashMap<>();
  private final Map<InetSocketAddress, FaultProxy> proxies = new HashMap<>();

  ProxyNetwork(Callers callers) {
    this.callers = callers;
  }

  /** The address of a member, chosen when it is first asked for. */
  private synchronized InetAddress host(String member) {
    return hosts.computeIfAbsent(member, name -> loopback(hosts.size() + 1));
  }

  private static InetAddress loopback(int number) {
    try {
      return InetAddress.getByAddress(new byte[] {127, 0, 1, (byte) number});
    } catch (UnknownHostException e) {
      throw new IllegalStateException("Expected four bytes to be an address.", e);
    }
  }

  /** The settings of a node that is behind this network. */
  synchronized Map<String, Object> settings(String node, Map<String, Object> planned) {
    Map<String, Object> settings = new LinkedHashMap<>(planned);
    Map<String, Object> listen = new LinkedHashMap<>();
    if (planned.get("listen") instanceof Map<?, ?> ports) {
      ports.forEach((name, port) -> {
        listen.put(String.valueOf(name), port);
        stand(node, Integer.parseInt(String.valueOf(port)));
      });
    }
    listen.put("advertise", host(node).getHostAddress());
    settings.put("listen", listen);
    if (planned.get("etcd") instanceof Map<?, ?> etcd
        && etcd.get("endpoints") instanceof List<?> endpoints) {
      List<String> behind = new ArrayList<>();
      for (int i = 0; i < endpoints.size(); i++) {
        String endpoint = String.valueOf(endpoints.get(i));
        int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        String member = "etcd-" + i;
        stand(member, port);
        behind.add(host(member).getHostAddress() + ":" + port);
      }
      settings.put("etcd", Map.of("endpoints", behind));
    }
    return settings;
  }

  private void stand(String member, int port) {
    InetSocketAddress address = new InetSocketAddress(host(member), port);
    proxies.computeIfAbsent(
        address,
        a ->
            new FaultProxy(
                member,
                address,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                callers,
                rules));
  }

  void impair(String from, String to, Impairment impairment) {
    rules.set(new Way(from, to), impairment);
  }

  void restore() {
    rules.clear();
  }

  @Override
  public synchronized void close() {
    proxies.values().forEach(FaultProxy::close);
  }
}
