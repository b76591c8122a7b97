package dev.baton.coordination.simulation;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/** How often each thing happened. */
final class Counts {
  private final Map<Happening, Long> counts = new EnumMap<>(Happening.class);

  void add(Happening happening) {
    counts.merge(happening, 1L, Long::sum);
  }

  long of(Happening happening) {
    return counts.getOrDefault(happening, 0L);
  }

  Map<Happening, Long> all() {
    return new TreeMap<>(counts);
  }
}
