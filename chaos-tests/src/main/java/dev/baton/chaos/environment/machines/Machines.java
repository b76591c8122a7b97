package dev.baton.chaos.environment.machines;

/** Makes the machines of one run. Of one thread. Closing ends all processes and leaves nothing. */
public interface Machines extends AutoCloseable {
  /** As users choose it. */
  String name();

  /** Whether connections to a machine whose process is dead are refused; else it is silent. */
  boolean refusesForTheDead();

  /** Makes the network, and removes what runs left behind that were killed. */
  Subnet open();

  /** Makes a machine; its process is not started yet. */
  Machine add(Blueprint blueprint);

  @Override
  void close();
}
