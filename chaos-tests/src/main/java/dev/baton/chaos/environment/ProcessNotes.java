package dev.baton.chaos.environment;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Change;
import dev.baton.chaos.history.Observation.ProcessChanged;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.Polling;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Notes in the history what becomes of processes, right after it was done or seen. */
public final class ProcessNotes {
  private static final Duration KILL_GRACE = Duration.ofSeconds(5);
  private static final Duration POLL = Duration.ofMillis(20);

  private final Consumer<Observation> journal;
  private final Consumer<String> progress;
  private final Map<String, Change> newest = new ConcurrentHashMap<>();

  /**
   * @param progress told what happens, a line each
   */
  public ProcessNotes(Consumer<Observation> journal, Consumer<String> progress) {
    this.journal = journal;
    this.progress = progress;
  }

  public void started(String part) {
    note(part, Change.STARTED);
  }

  public void signalled(String part, Signal signal) {
    note(
        part,
        switch (signal) {
          case KILL -> Change.KILLED;
          case TERM -> Change.TERMINATED;
          case STOP -> Change.STOPPED;
          case CONT -> Change.CONTINUED;
        });
  }

  /**
   * It is dead; one that was started and not killed from here ended as it was told, or by itself.
   */
  public void foundDead(String part) {
    Change change = newest.get(part);
    if (change != null && change != Change.KILLED && change != Change.GONE) {
      note(part, Change.GONE);
    }
  }

  /**
   * Waits until one that was told to end is dead.
   *
   * @param kill called past the bound
   */
  public void awaitDown(String part, Duration bound, BooleanSupplier down, Runnable kill) {
    if (!died(down, bound)) {
      progress.accept(part + " had not ended after " + bound.toSeconds() + " s and is killed");
      kill.run();
      died(down, KILL_GRACE);
    }
    if (down.getAsBoolean()) {
      foundDead(part);
    }
  }

  private static boolean died(BooleanSupplier down, Duration bound) {
    return Polling.until(
            bound, POLL, () -> down.getAsBoolean() ? Optional.of(true) : Optional.empty())
        .isPresent();
  }

  private void note(String part, Change change) {
    newest.put(part, change);
    journal.accept(new ProcessChanged(System.nanoTime(), part, change));
  }
}
