package dev.baton.scheduler.simulation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * A stream between two processes. Each way delivers in order. It ends for both ends, sooner or
 * later: when one of them closes it, when a message is lost, when a process ends.
 */
final class Wire {
  /** What gRPC's keep-alive finds out at last. */
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(25);

  private final Network network;
  private final SimulatedProcess client;
  private final String to;
  private @Nullable SimulatedProcess server;
  private final Way up = new Way();
  private final Way down = new Way();
  private Runnable clientClosed = () -> {};
  private Runnable serverClosed = () -> {};
  private boolean over;
  private boolean clientTold;
  private boolean serverTold;
  private boolean hung;

  /** One way of it. */
  private static final class Way {
    final Deque<Runnable> waiting = new ArrayDeque<>();
    boolean moving;
    boolean blocked;
  }

  Wire(Network network, SimulatedProcess client, String to) {
    this.network = network;
    this.client = client;
    this.to = to;
  }

  /** What to do when it has ended, unless the client itself has ended it. */
  void onClientClosed(Runnable task) {
    clientClosed = task;
  }

  /** The same for the server. */
  void onServerClosed(Runnable task) {
    serverClosed = task;
  }

  /** The client says something; {@code arrival} runs at the server. */
  void up(Runnable arrival) {
    send(up, arrival);
  }

  /** The server says something. */
  void down(Runnable arrival) {
    send(down, arrival);
  }

  /** What the server has said and has not arrived. */
  int waitingDown() {
    return down.waiting.size();
  }

  int waitingUp() {
    return up.waiting.size();
  }

  boolean isOver() {
    return over;
  }

  boolean stands() {
    return !over && server != null;
  }

  boolean touches(SimulatedProcess process) {
    return client == process || server == process;
  }

  /** The client ends it, and hears nothing more of it. */
  void closeByClient() {
    clientTold = true;
    end();
    afterPath(client.name(), to, this::tellServer);
  }

  /** The server ends it after what it has said. */
  void closeByServer() {
    serverTold = true;
    SimulatedProcess there = server;
    if (there != null && !over) {
      send(down, () -> {});
      down.waiting.addLast(this::tellClientNow);
      pump(down);
      up.waiting.clear();
    }
  }

  void refuse(Runnable refused) {
    if (!over) {
      over = true;
      network.forget(this);
      if (!clientTold) {
        clientTold = true;
        client.transport().execute(refused);
      }
    }
  }

  void accept(SimulatedProcess process) {
    server = process;
    pump(up);
  }

  /** A message was lost. */
  void reset() {
    end();
    network.after(network.delay(), this::tellClient);
    network.after(network.delay(), this::tellServer);
  }

  /** One of the processes has ended. */
  void lost(SimulatedProcess process, boolean silently) {
    if (process == client) {
      clientTold = true;
    } else {
      serverTold = true;
    }
    if (silently) {
      hung = true;
      network.after(KEEP_ALIVE, this::giveUp);
      return;
    }
    // What it said last may arrive yet.
    Way from = process == client ? up : down;
    int arriving = network.random().nextInt(from.waiting.size() + 1);
    while (from.waiting.size() > arriving) {
      from.waiting.removeLast();
    }
    from.waiting.addLast(process == client ? this::tellServerNow : this::tellClientNow);
    pump(from);
  }

  void hang() {
    hung = true;
    network.after(KEEP_ALIVE, this::giveUp);
  }

  void unhang() {
    hung = false;
    resume();
  }

  /** Nothing is in the way any more, perhaps. */
  void resume() {
    if (up.blocked) {
      up.blocked = false;
      pump(up);
    }
    if (down.blocked) {
      down.blocked = false;
      pump(down);
    }
  }

  @Override
  public String toString() {
    return (over ? "over" : server == null ? "opening" : hung ? "hung" : "open")
        + (up.blocked ? " up blocked" : "")
        + (down.blocked ? " down blocked" : "")
        + " "
        + up.waiting.size()
        + " up "
        + down.waiting.size()
        + " down";
  }

  private void giveUp() {
    if (hung && !over) {
      reset();
    }
  }

  private void send(Way way, Runnable arrival) {
    if (!over) {
      way.waiting.addLast(arrival);
      pump(way);
    }
  }

  private void pump(Way way) {
    if (way.moving || way.waiting.isEmpty() || over || server == null) {
      return;
    }
    way.moving = true;
    network.after(network.delay(), () -> arrive(way));
  }

  private void arrive(Way way) {
    way.moving = false;
    SimulatedProcess there = server;
    if (over || there == null || way.waiting.isEmpty()) {
      return;
    }
    boolean isUp = way == up;
    if (hung || network.isCut(isUp ? client.name() : to, isUp ? to : client.name())) {
      if (!way.blocked) {
        way.blocked = true;
        network.after(KEEP_ALIVE, () -> stillBlocked(way));
      }
      return;
    }
    Runnable arrival = way.waiting.removeFirst();
    (isUp ? there : client).transport().execute(arrival);
    pump(way);
  }

  private void stillBlocked(Way way) {
    if (way.blocked && !over) {
      reset();
    }
  }

  private void end() {
    if (!over) {
      over = true;
      up.waiting.clear();
      down.waiting.clear();
      network.forget(this);
    }
  }

  private void afterPath(String from, String target, Runnable told) {
    if (network.isCut(from, target) || hung) {
      network.after(KEEP_ALIVE, told);
    } else {
      network.after(network.delay(), told);
    }
  }

  private void tellClient() {
    client.transport().execute(this::tellClientNow);
  }

  private void tellClientNow() {
    end();
    if (!clientTold) {
      clientTold = true;
      clientClosed.run();
    }
  }

  private void tellServer() {
    SimulatedProcess there = server;
    if (there != null) {
      there.transport().execute(this::tellServerNow);
    }
  }

  private void tellServerNow() {
    end();
    if (!serverTold) {
      serverTold = true;
      serverClosed.run();
    }
  }
}
