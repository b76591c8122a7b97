package dev.baton.coordination.simulation;

import dev.baton.coordination.Strand;
import dev.baton.coordination.simulation.World.Event;
import dev.baton.coordination.simulation.World.OwnerClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A strand whose tasks are events of the world.
 *
 * <p>A task runs a little after it was given, a timer sometimes late; the order of tasks is kept.
 */
public final class SimulatedStrand implements Strand {
  private static final int USUAL_NANOS = 50_000;
  private static final int LONG_NANOS = 5_000_000;
  private static final int ONE_IN_LONG = 100;
  private static final int ONE_IN_LATE = 8;

  private final World world;
  private final String owner;
  private final OwnerClock clock;
  private final Consumer<Throwable> onFault;
  private final Queue<Runnable> ready = new ArrayDeque<>();
  private final Runnable turn = this::turn;
  private int missedTurns;
  private boolean paused;
  private boolean crashed;

  SimulatedStrand(World world, String owner, OwnerClock clock, Consumer<Throwable> onFault) {
    this.world = world;
    this.owner = owner;
    this.clock = clock;
    this.onFault = onFault;
  }

  public String owner() {
    return owner;
  }

  /** Runs nothing until {@link #resume}; the clock moves on. */
  public void pause() {
    paused = true;
  }

  /** Runs, in its order, what became due meanwhile. */
  public void resume() {
    paused = false;
    for (; missedTurns > 0; missedTurns--) {
      takeTurn();
    }
  }

  /** Drops all that waits, and all that comes, for ever. */
  public void crash() {
    crashed = true;
    ready.clear();
    world.forget(this);
  }

  public boolean isPaused() {
    return paused;
  }

  public boolean isCrashed() {
    return crashed;
  }

  @Override
  public void execute(Runnable task) {
    if (!crashed) {
      ready.add(task);
      takeTurn();
    }
  }

  @Override
  public long nanoTime() {
    return world.nanoTime(clock);
  }

  @Override
  public long wallMillis() {
    return world.wallMillis(clock);
  }

  @Override
  public Timer schedule(Duration delay, Runnable task) {
    Scheduled scheduled = new Scheduled(task);
    if (!crashed) {
      scheduled.event = world.at(world.nanoTime() + Math.max(0, delay.toNanos()), scheduled);
    }
    return scheduled;
  }

  /** An event when it is due, and then perhaps a task that waits for its turn. */
  private final class Scheduled implements Timer, Runnable {
    private @Nullable Runnable task;
    private @Nullable Event event;

    Scheduled(Runnable task) {
      this.task = task;
    }

    @Override
    public void cancel() {
      task = null;
      if (event != null) {
        event.cancel();
      }
    }

    @Override
    public void run() {
      if (crashed || task == null) {
        return;
      }
      if (!paused && ready.isEmpty() && world.random().nextInt(ONE_IN_LATE) > 0) {
        fire();
      } else {
        execute(this::fire);
      }
    }

    private void fire() {
      Runnable due = task;
      if (due != null) {
        task = null;
        perform(due);
      }
    }
  }

  private void takeTurn() {
    int longest = world.random().nextInt(ONE_IN_LONG) == 0 ? LONG_NANOS : USUAL_NANOS;
    var unused = world.at(world.nanoTime() + world.random().nextInt(longest), turn);
  }

  private void turn() {
    if (paused) {
      missedTurns++;
      return;
    }
    Runnable task = ready.poll();
    if (task != null) {
      perform(task);
    }
  }

  private void perform(Runnable task) {
    try {
      task.run();
    } catch (Throwable fault) {
      onFault.accept(fault);
    }
  }
}
