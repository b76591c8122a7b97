package dev.baton.cli;

import dev.baton.client.RunWatch;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.WatchRunResponse;

/** Shows what a watch tells. */
interface WatchView extends RunWatch.Listener {
  /** Shows nothing. */
  WatchView SILENT = change -> {};

  @Override
  void onChange(WatchRunResponse change);

  /** A second passed. */
  default void tick() {}

  /** The run has ended. */
  default void end(Run run) {}

  /** The program is about to end although the run has not. */
  default void interrupt() {}
}
