package dev.baton.cli.bench;

import dev.baton.cli.cluster.HttpProbe;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A figure that a node tells at its HTTP port. */
final class NodeMetric {
  private final Pattern line;

  /**
   * One without labels, or the first of several.
   *
   * @param name as in the text that a node prints
   */
  NodeMetric(String name) {
    this.line = Pattern.compile("(?m)^" + Pattern.quote(name) + "(?:\\{.*})? (\\S+)");
  }

  /** Empty: the node does not answer, or has no such metric. */
  OptionalDouble read(int httpPort) {
    return in(HttpProbe.get(httpPort, "/metrics").body());
  }

  OptionalDouble in(String text) {
    Matcher found = line.matcher(text);
    return found.find()
        ? OptionalDouble.of(Double.parseDouble(found.group(1)))
        : OptionalDouble.empty();
  }
}
