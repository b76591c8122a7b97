package dev.baton.chaos.environment.machines;

import dev.baton.cli.cluster.Daemon.Signal;
import java.nio.file.Path;
import java.util.Optional;

/** One member's machine: an address of its own, and one process that can be started again. */
interface Machine {
  Blueprint blueprint();

  /** Starts the process, which is down, and does not wait for it. */
  void start();

  boolean isDown();

  /** Signals the process; tells whether it was there. */
  boolean signal(Signal signal);

  /** The file by which its network is entered; empty: it has none now. */
  Optional<Path> network();
}
