package dev.baton.scheduler.simulation;

import dev.baton.coordination.simulation.World;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** What happened, in words: the last lines are kept, and all of them make up one number. */
final class Trace {
  private static final int KEPT = 60;
  private static final int NANOS_PER_MICRO = 1_000;

  private record Line(long nanos, String who, String what) {
    @Override
    public String toString() {
      return "%12.6f s  %-10s %s".formatted(nanos / 1e9, who, what);
    }
  }

  private final World world;
  private final long start;
  private final Deque<Line> lines = new ArrayDeque<>();
  private long hash;
  private boolean whole;

  Trace(World world) {
    this.world = world;
    this.start = world.nanoTime();
  }

  /** Keeps all lines from now on. */
  void keepAll() {
    whole = true;
  }

  void add(String who, String what) {
    long now = world.nanoTime() - start;
    hash = 31 * (31 * (31 * hash + now / NANOS_PER_MICRO) + who.hashCode()) + what.hashCode();
    lines.addLast(new Line(now, who, what));
    if (!whole && lines.size() > KEPT) {
      lines.removeFirst();
    }
  }

  /** Two histories that differ have another one. */
  long hash() {
    return hash;
  }

  List<String> last() {
    List<String> texts = new ArrayList<>();
    lines.forEach(line -> texts.add(line.toString()));
    return texts;
  }
}
