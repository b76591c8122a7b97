package dev.baton.scheduler.simulation;

import dev.baton.coordination.simulation.SimulatedStrand;

/** One life of a process: its name stays over restarts, its incarnation does not. */
final class SimulatedProcess {
  private final String name;
  private final String incarnation;
  private final SimulatedStrand transport;
  private boolean alive = true;
  private boolean silent;

  /**
   * @param transport what arrives runs here, and waits while the process stands still
   */
  SimulatedProcess(String name, String incarnation, SimulatedStrand transport) {
    this.name = name;
    this.incarnation = incarnation;
    this.transport = transport;
  }

  String name() {
    return name;
  }

  String incarnation() {
    return incarnation;
  }

  SimulatedStrand transport() {
    return transport;
  }

  boolean isAlive() {
    return alive;
  }

  /** It ended with its machine. */
  boolean isSilent() {
    return silent;
  }

  void end(boolean silently) {
    alive = false;
    silent = silently;
  }
}
