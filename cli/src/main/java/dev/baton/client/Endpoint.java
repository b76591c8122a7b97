package dev.baton.client;

import java.util.ArrayList;
import java.util.List;

/** Where a scheduler node serves its API. */
public record Endpoint(String host, int port) {
  public Endpoint {
    if (host.isEmpty() || port < 1 || port > 65_535) {
      throw new IllegalArgumentException(
          "Expected an endpoint host:port with a port of 1 to 65535, but got '"
              + host
              + ":"
              + port
              + "'.");
    }
  }

  /** Reads {@code host:port}; an IPv6 address stands in brackets. */
  public static Endpoint parse(String text) {
    String trimmed = text.strip();
    int colon = trimmed.lastIndexOf(':');
    String host = colon < 0 ? "" : trimmed.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    } else if (host.indexOf(':') >= 0 || host.indexOf('/') >= 0) {
      host = "";
    }
    try {
      return new Endpoint(host, Integer.parseInt(trimmed.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "Expected an endpoint host:port, such as 127.0.0.1:7400, but got '" + text + "'.", e);
    }
  }

  /** Reads a list that is separated by commas. */
  public static List<Endpoint> parseList(String text) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      if (!part.isBlank()) {
        endpoints.add(parse(part));
      }
    }
    if (endpoints.isEmpty()) {
      throw new IllegalArgumentException(
          "Expected endpoints host:port, separated by commas, but got none.");
    }
    return List.copyOf(endpoints);
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
