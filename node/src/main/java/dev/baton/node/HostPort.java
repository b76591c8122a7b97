package dev.baton.node;

/**
 * A host and a TCP port, written {@code host:port} or {@code [ipv6]:port}. Port 0, where one
 * listens, takes any free port.
 */
public record HostPort(String host, int port) {
  public HostPort {
    if (host.isBlank() || host.chars().anyMatch(c -> c <= ' ' || c == '/' || c == '@')) {
      throw new IllegalArgumentException(
          "a host name or address is expected, but got '" + host + "'");
    }
    requirePort(port);
  }

  /** Reads {@code host:port}. */
  public static HostPort parse(String text) {
    if (text.contains("://")) {
      throw new IllegalArgumentException(
          "host:port is expected, but got '%s': leave out the part up to '://'".formatted(text));
    }
    int colon = text.lastIndexOf(':');
    boolean bracketed = text.startsWith("[") && colon > 0 && text.charAt(colon - 1) == ']';
    if (colon < 1 || (!bracketed && text.indexOf(':') != colon)) {
      throw new IllegalArgumentException(
          "host:port (or [ipv6]:port) is expected, but got '%s'".formatted(text));
    }
    String host = bracketed ? text.substring(1, colon - 1) : text.substring(0, colon);
    try {
      return new HostPort(host, Integer.parseInt(text.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "host:port is expected, but the port in '%s' is no number".formatted(text), e);
    }
  }

  static int requirePort(int port) {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("a port is 0 to 65535, but got " + port);
    }
    return port;
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
