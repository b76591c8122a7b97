package dev.baton.scheduler.simulation;

import dev.baton.coordination.simulation.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Who reaches whom, and how fast. What is under way between two processes arrives in order or not
 * at all: what is lost breaks the stream, what is cut off waits in it.
 */
final class Network {
  private static final int USUAL_MICROS = 900;
  private static final int ONE_IN_SLOW = 40;
  private static final Duration NO_ROUTE = Duration.ofMillis(300);

  private final World world;
  private final Map<String, SimulatedProcess> processes = new HashMap<>();
  private final Set<Path> cuts = new HashSet<>();
  private final List<Wire> wires = new ArrayList<>();
  private int slowMicros = 60_000;

  /** From one name to another. */
  private record Path(String from, String to) {}

  Network(World world) {
    this.world = world;
  }

  /** A process is reachable under its name from now on. */
  void up(SimulatedProcess process) {
    processes.put(process.name(), process);
  }

  /**
   * A process is gone.
   *
   * @param silently with its machine: nobody is told, and nobody answers for it
   */
  void down(SimulatedProcess process, boolean silently) {
    process.end(silently);
    for (Wire wire : List.copyOf(wires)) {
      if (wire.touches(process)) {
        wire.lost(process, silently);
      }
    }
  }

  /** The process of that name that runs now. */
  @Nullable SimulatedProcess find(String name) {
    SimulatedProcess process = processes.get(name);
    return process != null && process.isAlive() ? process : null;
  }

  void cut(String from, String to) {
    cuts.add(new Path(from, to));
  }

  void heal() {
    cuts.clear();
    List.copyOf(wires).forEach(Wire::resume);
  }

  void heal(String from, String to) {
    cuts.remove(new Path(from, to));
    List.copyOf(wires).forEach(Wire::resume);
  }

  boolean isCut(String from, String to) {
    return cuts.contains(new Path(from, to));
  }

  /** How long a rare slow message takes at most. */
  void slow(Duration longest) {
    slowMicros = (int) (longest.toNanos() / 1_000);
  }

  RandomGenerator random() {
    return world.random();
  }

  Duration delay() {
    boolean slow = random().nextInt(ONE_IN_SLOW) == 0;
    return Duration.ofNanos((20L + random().nextInt(slow ? slowMicros : USUAL_MICROS)) * 1_000);
  }

  void after(Duration delay, Runnable task) {
    world.after(delay, task);
  }

  /** A single message outside any stream: it arrives some time later, or never. */
  void datagram(String from, String to, Runnable arrival) {
    if (!isCut(from, to)) {
      world.after(delay(), arrival);
    }
  }

  /**
   * A connection; {@code refused} runs instead if nobody listens there, or nothing is heard of it.
   */
  Wire connect(SimulatedProcess client, String to, Runnable accepted, Runnable refused) {
    Wire wire = new Wire(this, client, to);
    wires.add(wire);
    world.after(
        delay(),
        () -> {
          SimulatedProcess server = find(to);
          if (isCut(client.name(), to) || isCut(to, client.name()) || isSilent(to)) {
            world.after(NO_ROUTE.multipliedBy(10), () -> wire.refuse(refused));
          } else if (server == null) {
            wire.refuse(refused);
          } else if (!wire.isOver()) {
            wire.accept(server);
            accepted.run();
          }
        });
    return wire;
  }

  void forget(Wire wire) {
    wires.remove(wire);
  }

  /** Cuts one stream that stands. False: there is none. */
  boolean breakOne() {
    List<Wire> standing = wires.stream().filter(Wire::stands).toList();
    if (standing.isEmpty()) {
      return false;
    }
    standing.get(random().nextInt(standing.size())).reset();
    return true;
  }

  /** One stream that stands carries nothing for a while, and nobody is told. */
  boolean hangOne(Duration time) {
    List<Wire> standing = wires.stream().filter(Wire::stands).toList();
    if (standing.isEmpty()) {
      return false;
    }
    hang(standing.get(random().nextInt(standing.size())), time);
    return true;
  }

  /**
   * The same for all streams of a process: what is under way there arrives when the time is over.
   */
  boolean hangAll(String name, Duration time) {
    SimulatedProcess process = find(name);
    if (process == null) {
      return false;
    }
    List<Wire> touched =
        wires.stream().filter(wire -> wire.stands() && wire.touches(process)).toList();
    touched.forEach(wire -> hang(wire, time));
    return !touched.isEmpty();
  }

  private void hang(Wire wire, Duration time) {
    wire.hang();
    world.after(time, wire::unhang);
  }

  private boolean isSilent(String name) {
    SimulatedProcess process = processes.get(name);
    return process != null && !process.isAlive() && process.isSilent();
  }

  /** Whether a fresh connection is refused; fails if neither that nor accepted in time. */
  CompletableFuture<Boolean> knock(String from, String at) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    SimulatedProcess there = find(at);
    if (isCut(from, at) || isCut(at, from) || isSilent(at)) {
      world.after(
          NO_ROUTE, () -> answer.completeExceptionally(new IllegalStateException("no route")));
    } else {
      world.after(delay(), () -> answer.complete(there == null));
    }
    return answer;
  }

  /** Whether that process itself answers there; fails if nothing does in time. */
  CompletableFuture<Boolean> ask(String from, String at, String incarnation) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    SimulatedProcess there = find(at);
    if (there == null || isCut(from, at) || isCut(at, from)) {
      world.after(
          NO_ROUTE, () -> answer.completeExceptionally(new IllegalStateException("no answer")));
    } else {
      world.after(
          delay(),
          () ->
              there
                  .transport()
                  .execute(() -> answer.complete(there.incarnation().equals(incarnation))));
    }
    return answer;
  }
}
