package dev.baton.chaos.report;

import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.Finished;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * The picture of a history: who led, which faults there were, which processes were dead or stopped,
 * and how many tasks ended each half second, over one axis of time.
 */
final class Timeline {
  private static final double WIDTH = 1080;
  private static final double LEFT = 92;
  private static final double RIGHT = 12;
  private static final double LANE = 20;
  private static final double GAP = 5;
  private static final double CHART = 120;
  private static final int NODE_COLOURS = 6;
  private static final long BUCKET_NANOS = 500_000_000;

  private final History history;
  private final long from;
  private final long to;
  private final StringBuilder svg = new StringBuilder();
  private final List<String> nodes;
  private double y = 4;

  Timeline(History history) {
    this.history = history;
    this.from = history.began().map(Observation::nanos).orElse(0L);
    long last = from + 1_000_000_000;
    for (Finished finished : history.each(Finished.class)) {
      last = Math.max(last, finished.nanos());
    }
    for (FaultSpan fault : history.faults()) {
      last = Math.max(last, fault.healed());
    }
    this.to = last + BUCKET_NANOS;
    TreeSet<String> names = new TreeSet<>();
    history.each(LeaderChanged.class).stream()
        .map(LeaderChanged::node)
        .filter(node -> !node.isEmpty())
        .forEach(names::add);
    this.nodes = List.copyOf(names);
  }

  String svg() {
    double top = y;
    leaders();
    faults();
    processes();
    throughput();
    double height = y + 22;
    return """
    <svg viewBox="0 0 %s %s" role="img" aria-label="Leaders, faults, processes and throughput over time">
    %s%s%s</svg>
    """
        .formatted(number(WIDTH), number(height), bands(top), axis(top), svg);
  }

  private double x(long nanos) {
    double part = (double) (Math.clamp(nanos, from, to) - from) / (to - from);
    return LEFT + part * (WIDTH - LEFT - RIGHT);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private void label(String text) {
    svg.append(
        "<text class=\"t-name\" x=\"%s\" y=\"%s\" text-anchor=\"end\">%s</text>\n"
            .formatted(number(LEFT - 8), number(y + LANE * 0.7), Html.escape(text)));
  }

  private void lane() {
    svg.append(
        "<rect class=\"t-lane\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"3\"/>\n"
            .formatted(number(LEFT), number(y), number(WIDTH - LEFT - RIGHT), number(LANE)));
  }

  private void span(long start, long end, String style, String inside, String title) {
    double left = x(start);
    double width = Math.max(1.5, x(end) - left);
    svg.append(
        "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"3\"><title>%s</title></rect>\n"
            .formatted(
                style, number(left), number(y), number(width), number(LANE), Html.escape(title)));
    if (width > 7.0 * inside.length() + 8) {
      svg.append(
          "<text class=\"%s\" x=\"%s\" y=\"%s\">%s</text>\n"
              .formatted(
                  style.startsWith("n") ? "t-in" : "t-name",
                  number(left + 6),
                  number(y + LANE * 0.7),
                  Html.escape(inside)));
    }
  }

  private String at(long nanos) {
    return Html.seconds((nanos - from) / 1e9);
  }

  private void leaders() {
    label("leader");
    lane();
    List<LeaderChanged> changes = history.each(LeaderChanged.class);
    for (int i = 0; i < changes.size(); i++) {
      LeaderChanged change = changes.get(i);
      long end = i + 1 < changes.size() ? changes.get(i + 1).nanos() : to;
      if (!change.node().isEmpty()) {
        String style = "n" + (nodes.indexOf(change.node()) % NODE_COLOURS + 1);
        span(
            change.nanos(),
            end,
            style,
            change.node(),
            "%s leads in term %d from %s to %s"
                .formatted(change.node(), change.revision(), at(change.nanos()), at(end)));
      }
    }
    y += LANE + GAP;
  }

  private void faults() {
    List<Long> ends = new ArrayList<>();
    List<List<FaultSpan>> lanes = new ArrayList<>();
    for (FaultSpan fault : history.faults()) {
      int free = 0;
      while (free < ends.size() && ends.get(free) > fault.injected()) {
        free++;
      }
      if (free == ends.size()) {
        ends.add(0L);
        lanes.add(new ArrayList<>());
      }
      ends.set(free, fault.healed());
      lanes.get(free).add(fault);
    }
    String name = "faults";
    for (List<FaultSpan> spans : lanes) {
      label(name);
      lane();
      for (FaultSpan fault : spans) {
        span(
            fault.injected(),
            fault.healed(),
            "t-fault",
            fault.name(),
            "round %d: %s to %s, from %s to %s"
                .formatted(
                    fault.round(),
                    fault.name(),
                    String.join(", ", fault.targets()),
                    at(fault.injected()),
                    at(fault.healed())));
      }
      name = "";
      y += LANE + GAP;
    }
  }

  private void processes() {
    Map<String, List<ProcessChanged>> all = new LinkedHashMap<>();
    for (ProcessChanged change : history.each(ProcessChanged.class)) {
      all.computeIfAbsent(change.process(), p -> new ArrayList<>()).add(change);
    }
    all.values().removeIf(of -> of.stream().allMatch(c -> c.change() == Change.STARTED));
    for (String process : new TreeSet<>(all.keySet())) {
      List<ProcessChanged> changes = all.getOrDefault(process, List.of());
      label(process);
      lane();
      for (int i = 0; i < changes.size(); i++) {
        ProcessChanged change = changes.get(i);
        long end = i + 1 < changes.size() ? changes.get(i + 1).nanos() : to;
        String style =
            switch (change.change()) {
              case KILLED, GONE -> "t-dead";
              case STOPPED, TERMINATED -> "t-stopped";
              case STARTED, CONTINUED -> "";
            };
        if (!style.isEmpty()) {
          String what = change.change().name().toLowerCase(Locale.ROOT);
          span(
              change.nanos(),
              end,
              style,
              "",
              "%s %s from %s to %s".formatted(process, what, at(change.nanos()), at(end)));
        }
      }
      y += LANE + GAP;
    }
  }

  private void throughput() {
    int[] ended = new int[(int) ((to - from) / BUCKET_NANOS) + 1];
    for (Finished finished : history.each(Finished.class)) {
      if (finished.nanos() >= from && finished.nanos() <= to) {
        ended[(int) ((finished.nanos() - from) / BUCKET_NANOS)]++;
      }
    }
    int most = 1;
    for (int each : ended) {
      most = Math.max(most, each);
    }
    y += 6;
    double bottom = y + CHART;
    svg.append(
        "<text class=\"t-name\" x=\"%s\" y=\"%s\" text-anchor=\"end\">tasks/s</text>\n"
            .formatted(number(LEFT - 8), number(y + 10)));
    svg.append(
        "<text class=\"t-label\" x=\"%s\" y=\"%s\" text-anchor=\"end\">%d</text>\n"
            .formatted(number(LEFT - 8), number(y + 26), 2 * most));
    svg.append(
        "<text class=\"t-label\" x=\"%s\" y=\"%s\" text-anchor=\"end\">0</text>\n"
            .formatted(number(LEFT - 8), number(bottom)));
    StringBuilder points = new StringBuilder();
    for (int i = 0; i < ended.length; i++) {
      double height = CHART * ended[i] / most;
      points
          .append(number(x(from + i * BUCKET_NANOS + BUCKET_NANOS / 2)))
          .append(',')
          .append(number(bottom - height))
          .append(' ');
    }
    svg.append(
        "<polygon class=\"t-area\" points=\"%s,%s %s%s,%s\"/>\n"
            .formatted(number(x(from)), number(bottom), points, number(x(to)), number(bottom)));
    svg.append("<polyline class=\"t-curve\" points=\"%s\"/>\n".formatted(points));
    y = bottom + 4;
    misses();
    y += 12;
  }

  /** A tick for each operation that came back without an answer. */
  private void misses() {
    for (Returned returned : history.each(Returned.class)) {
      if (returned.result() == Result.UNKNOWN && returned.nanos() <= to) {
        svg.append(
            "<line class=\"t-miss\" x1=\"%1$s\" x2=\"%1$s\" y1=\"%2$s\" y2=\"%3$s\"><title>%4$s</title></line>\n"
                .formatted(
                    number(x(returned.nanos())),
                    number(y),
                    number(y + 8),
                    Html.escape("no answer at " + at(returned.nanos()))));
      }
    }
  }

  /** Faults as bands behind everything. */
  private String bands(double top) {
    StringBuilder bands = new StringBuilder();
    for (FaultSpan fault : history.faults()) {
      double left = x(fault.injected());
      bands.append(
          "<rect class=\"t-faultband\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n"
              .formatted(
                  number(left),
                  number(top),
                  number(Math.max(1, x(fault.healed()) - left)),
                  number(y - top)));
    }
    return bands.toString();
  }

  private String axis(double top) {
    double seconds = (to - from) / 1e9;
    int step = 600;
    for (int nice : List.of(2, 5, 10, 20, 30, 60, 120, 300)) {
      if (seconds / nice <= 14) {
        step = nice;
        break;
      }
    }
    StringBuilder axis = new StringBuilder();
    for (int at = 0; at <= seconds; at += step) {
      String x = number(x(from + at * 1_000_000_000L));
      axis.append(
          "<line class=\"t-grid\" x1=\"%1$s\" x2=\"%1$s\" y1=\"%2$s\" y2=\"%3$s\"/>\n"
              .formatted(x, number(top), number(y)));
      axis.append(
          "<text class=\"t-label\" x=\"%s\" y=\"%s\" text-anchor=\"middle\">%d s</text>\n"
              .formatted(x, number(y + 16), at));
    }
    return axis.toString();
  }
}
