package dev.baton.coordination.simulation;

import dev.baton.coordination.simulation.Faults.Way;
import java.util.EnumSet;
import java.util.Set;

/** The network between one owner's clients and etcd. */
final class Link {
  private final Set<Way> cut = EnumSet.noneOf(Way.class);
  private final Held held;
  private int tellingsToLose;

  Link(World world) {
    this.held = new Held(world);
  }

  void cut(Way way) {
    cut.add(way);
  }

  void heal() {
    cut.clear();
    held.release();
  }

  boolean passes(Way way) {
    return cut.isEmpty() || !cut.contains(way);
  }

  boolean isWhole() {
    return cut.isEmpty();
  }

  void hold(Runnable arrival) {
    held.add(arrival);
  }

  void loseNextTelling() {
    tellingsToLose++;
  }

  /** What a watch is about to tell is lost. */
  boolean losesTelling() {
    if (tellingsToLose == 0) {
      return false;
    }
    tellingsToLose--;
    return true;
  }

  void loseNothing() {
    tellingsToLose = 0;
  }
}
