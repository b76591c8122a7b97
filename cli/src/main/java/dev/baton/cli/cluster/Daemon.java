package dev.baton.cli.cluster;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A process of the cluster, as it was when it started. The start time tells it from a later process
 * that got the same id.
 *
 * @param log file with its output, relative to the cluster's folder
 */
public record Daemon(String name, Role role, long pid, long startTicks, String bootId, String log) {
  /** What it does in the cluster. */
  public enum Role {
    ETCD,
    SCHEDULER,
    WORKER
  }

  /** How it is now. */
  public enum State {
    RUNNING,
    /** Stopped by a signal; it goes on after SIGCONT. */
    STOPPED,
    DEAD
  }

  /** Signals that are sent. */
  public enum Signal {
    TERM,
    KILL,
    STOP,
    CONT
  }

  /** The process that was just started. */
  static Optional<Daemon> of(String name, Role role, long pid, String log) {
    return ProcStat.read(pid)
        .map(stat -> new Daemon(name, role, pid, stat.startTicks(), ProcStat.bootId(), log));
  }

  public State state() {
    Optional<ProcStat> stat = ProcStat.read(pid);
    if (stat.isEmpty()
        || stat.get().startTicks() != startTicks
        || !bootId.equals(ProcStat.bootId())) {
      return State.DEAD;
    }
    return switch (stat.get().state()) {
      case 'Z', 'X' -> State.DEAD;
      case 'T', 't' -> State.STOPPED;
      default -> State.RUNNING;
    };
  }

  /** Signals it if it is still the same process; tells whether it was. */
  public boolean signal(Signal signal) {
    if (state() == State.DEAD) {
      return false;
    }
    return switch (signal) {
      case TERM -> ProcessHandle.of(pid).map(ProcessHandle::destroy).orElse(false);
      case KILL -> ProcessHandle.of(pid).map(ProcessHandle::destroyForcibly).orElse(false);
      case STOP, CONT -> kill(signal);
    };
  }

  /**
   * The shell's own kill: Java has no such signals, and the program is not installed everywhere.
   */
  private boolean kill(Signal signal) {
    try {
      Process kill =
          new ProcessBuilder(
                  "/bin/sh", "-c", "kill -s \"$0\" \"$1\"", signal.name(), Long.toString(pid))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return kill.waitFor(5, TimeUnit.SECONDS) && kill.exitValue() == 0;
    } catch (IOException e) {
      throw new IllegalStateException(
          "Expected /bin/sh to send a signal, but: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
