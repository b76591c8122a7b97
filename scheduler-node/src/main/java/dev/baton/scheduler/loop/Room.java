package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Command;

/** How many bytes of events a command can come to at most. */
final class Room {
  /** Inline parameters, labels, actor, key. */
  static final int SUBMIT_BYTES = 12 << 10;

  /** An attempt's end with its inline output and reason, and the name of its worker. */
  static final int INTERNAL_BYTES = 16 << 10;

  /** A slice of losses. */
  static final int LOSS_BYTES = 64 << 10;

  /** What fits into an entry of its own. */
  static final int MOST = 500 << 10;

  private static final int SEEN = 40;
  private static final int RETURNED = 80;

  private Room() {}

  /** What deciding this command can add to an entry at most. */
  static int of(Command command) {
    return switch (command) {
      case Command.TakeInventory inventory ->
          inventory.running().size() * SEEN + inventory.returned().size() * RETURNED + LOSS_BYTES;
      case Command.LoseWorker lose -> LOSS_BYTES;
      case Command.Submit submit -> SUBMIT_BYTES;
      case Command.OpenTerm open -> INTERNAL_BYTES;
      case Command.Cancel cancel -> INTERNAL_BYTES;
      case Command.Cordon cordon -> INTERNAL_BYTES;
      case Command.Uncordon uncordon -> INTERNAL_BYTES;
      case Command.AssignNext next -> INTERNAL_BYTES;
      case Command.TakeResult take -> INTERNAL_BYTES;
      case Command.TakeReturn take -> INTERNAL_BYTES;
      case Command.TakeCancelUnknown take -> INTERNAL_BYTES;
      case Command.FailInputs fail -> INTERNAL_BYTES;
      case Command.TimeOutAttempt over -> INTERNAL_BYTES;
      case Command.TimeOutRun over -> INTERNAL_BYTES;
      case Command.Retire retire -> INTERNAL_BYTES;
      case Command.DropHistory drop -> INTERNAL_BYTES;
      case Command.InstallSnapshot install -> INTERNAL_BYTES;
      case Command.DropSpec drop -> INTERNAL_BYTES;
    };
  }
}
