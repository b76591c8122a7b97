package dev.baton.coordination.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Everything that happens, in the order of its time, decided by one seed: the same seed and the
 * same calls give the same events.
 *
 * <p>It owns the true time, the queue of events, the strands and the clocks of their owners. No
 * threads: all of it belongs to the one that calls {@link #step}. Time moves only from event to
 * event, so an hour without events costs nothing.
 */
public final class World {
  private static final long WALL_MILLIS_AT_START = 1_750_000_000_000L;
  private static final long LONGEST_OFFSET_NANOS = Duration.ofDays(1000).toNanos();

  private final long seed;
  private final SplittableRandom random;
  private final PriorityQueue<Event> queue = new PriorityQueue<>();
  private final Map<String, OwnerClock> clocks = new HashMap<>();
  private final List<SimulatedStrand> strands = new ArrayList<>();
  private final long start;
  private long now;
  private long order;
  private long events;
  private long fingerprint;
  private @Nullable Throwable fault;

  /** Something that will happen, unless it is called off. */
  static final class Event implements Comparable<Event> {
    private final long due;
    private final long order;
    private @Nullable Runnable task;

    private Event(long due, long order, Runnable task) {
      this.due = due;
      this.order = order;
      this.task = task;
    }

    void cancel() {
      task = null;
    }

    @Override
    public int compareTo(Event other) {
      return due != other.due ? Long.compare(due, other.due) : Long.compare(order, other.order);
    }
  }

  /** What one owner's strands read as time. */
  static final class OwnerClock {
    private final long offsetNanos;
    private long wallSkewMillis;

    private OwnerClock(long offsetNanos) {
      this.offsetNanos = offsetNanos;
    }
  }

  public World(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.start = random.nextLong(1, LONGEST_OFFSET_NANOS);
    this.now = start;
  }

  public long seed() {
    return seed;
  }

  /** The one source of chance. */
  public RandomGenerator random() {
    return random;
  }

  /** True time. Nobody in the world can read it: strands have clocks of their own. */
  public long nanoTime() {
    return now;
  }

  /** Steps so far. */
  public long events() {
    return events;
  }

  /** A number over the times of all steps so far: two runs that differ in it went other ways. */
  public long fingerprint() {
    return fingerprint;
  }

  public void after(Duration delay, Runnable event) {
    var unused = at(now + Math.max(0, delay.toNanos()), event);
  }

  /**
   * Runs the earliest event; false: none is left. What a task of a strand without a fault handler
   * threw is thrown from here.
   */
  public boolean step() {
    for (Event next = queue.poll(); next != null; next = queue.poll()) {
      Runnable task = next.task;
      if (task != null) {
        run(next, task);
        return true;
      }
    }
    return false;
  }

  /** Runs all that happens in this time. */
  public void runFor(Duration time) {
    long end = now + time.toNanos();
    while (isDue(end)) {
      step();
    }
    now = end;
  }

  /** Runs until the condition holds; false: it did not within the bound. */
  public boolean runUntil(Duration bound, BooleanSupplier condition) {
    long end = now + bound.toNanos();
    while (!condition.getAsBoolean()) {
      if (!isDue(end)) {
        now = end;
        return condition.getAsBoolean();
      }
      step();
    }
    return true;
  }

  /** A strand whose faults are thrown from {@link #step}. */
  public SimulatedStrand strand(String owner) {
    return strand(owner, this::faulted);
  }

  /**
   * A strand of an owner: a process on a machine. All strands of an owner have one clock.
   *
   * @param onFault gets what tasks throw, on the strand
   */
  public SimulatedStrand strand(String owner, Consumer<Throwable> onFault) {
    SimulatedStrand strand = new SimulatedStrand(this, owner, clock(owner), onFault);
    strands.add(strand);
    return strand;
  }

  /** Stops all strands of an owner, as a stopped process. */
  public void pause(String owner) {
    of(owner).forEach(SimulatedStrand::pause);
  }

  public void resume(String owner) {
    of(owner).forEach(SimulatedStrand::resume);
  }

  /** Ends all strands that an owner has now; those that it gets later live. */
  public void crash(String owner) {
    of(owner).forEach(SimulatedStrand::crash);
  }

  /** From now on the wall clock of an owner is off by so much. */
  public void skewWall(String owner, Duration skew) {
    clock(owner).wallSkewMillis = skew.toMillis();
  }

  Event at(long due, Runnable task) {
    Event event = new Event(due, order++, task);
    queue.add(event);
    return event;
  }

  long nanoTime(OwnerClock clock) {
    return now + clock.offsetNanos;
  }

  long wallMillis(OwnerClock clock) {
    return WALL_MILLIS_AT_START + (now - start) / 1_000_000 + clock.wallSkewMillis;
  }

  void forget(SimulatedStrand strand) {
    strands.remove(strand);
  }

  private void run(Event event, Runnable task) {
    now = Math.max(now, event.due);
    events++;
    fingerprint = fingerprint * 31 + now;
    task.run();
    Throwable thrown = fault;
    if (thrown != null) {
      fault = null;
      if (thrown instanceof Error error) {
        throw error;
      }
      throw thrown instanceof RuntimeException known ? known : new IllegalStateException(thrown);
    }
  }

  /** There is an event until then. */
  private boolean isDue(long end) {
    for (Event next = queue.peek(); next != null; next = queue.peek()) {
      if (next.task != null) {
        return next.due <= end;
      }
      queue.remove();
    }
    return false;
  }

  private void faulted(Throwable thrown) {
    if (fault == null) {
      fault = thrown;
    } else if (!fault.equals(thrown)) {
      fault.addSuppressed(thrown);
    }
  }

  private OwnerClock clock(String owner) {
    return clocks.computeIfAbsent(
        owner,
        name -> new OwnerClock(random.nextLong(-LONGEST_OFFSET_NANOS, LONGEST_OFFSET_NANOS)));
  }

  private List<SimulatedStrand> of(String owner) {
    return strands.stream().filter(strand -> strand.owner().equals(owner)).toList();
  }
}
