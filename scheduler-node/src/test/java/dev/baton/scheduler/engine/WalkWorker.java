package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Command.Result;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.WorkerLife;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A worker as the protocol wants it, without a network: what it says goes into {@link #up}, what it
 * is told comes from {@link #down}, both in order, both gone when the stream breaks.
 */
final class WalkWorker {
  private final Random random;
  private final Set<AttemptName> executed;
  private final Set<AttemptName> running = new LinkedHashSet<>();
  private final Map<AttemptName, Result> outbox = new LinkedHashMap<>();
  private final Set<AttemptName> returned = new LinkedHashSet<>();
  private final Set<AttemptName> neverToStart = new HashSet<>();
  final Deque<Command> up = new ArrayDeque<>();
  final Deque<Message> down = new ArrayDeque<>();
  final int slots;
  WorkerLife life;
  boolean connected;
  boolean silent;

  /** The slots that it believes to have; fewer than its key says at times. */
  private int room;

  /**
   * @param executed every attempt whose handler ever began, at any worker
   */
  WalkWorker(WorkerLife life, int slots, Set<AttemptName> executed, Random random) {
    this.life = life;
    this.slots = slots;
    this.room = slots;
    this.executed = executed;
    this.random = random;
  }

  boolean isIdle() {
    return running.isEmpty() && outbox.isEmpty() && returned.isEmpty();
  }

  /** It takes part in other work, or has none any more. */
  void changeRoom() {
    room = room == slots ? Math.max(0, slots - 1) : slots;
  }

  void freeRoom() {
    room = slots;
  }

  /** The process ends; a new one begins, with nothing. */
  void die() {
    running.clear();
    outbox.clear();
    returned.clear();
    neverToStart.clear();
  }

  void inventory() {
    up.add(
        new Command.TakeInventory(
            life, someTwice(running), someTwice(outbox.keySet()), someTwice(returned), List.of()));
    outbox.forEach((name, result) -> up.add(new Command.TakeResult(life, name, result)));
    returned.forEach(name -> up.add(new Command.TakeReturn(life, name)));
  }

  private List<AttemptName> someTwice(Collection<AttemptName> names) {
    List<AttemptName> list = new ArrayList<>(names);
    if (!list.isEmpty() && random.nextInt(10) == 0) {
      list.add(list.getFirst());
    }
    return list;
  }

  /** A handler ends, if one runs. */
  void finishOne() {
    if (!running.isEmpty()) {
      AttemptName name = List.copyOf(running).get(random.nextInt(running.size()));
      int die = random.nextInt(100);
      finish(
          name,
          die < 72
              ? Outcome.SUCCESS
              : die < 88 ? Outcome.FAILED : die < 97 ? Outcome.TIMEOUT : Outcome.CANCELLED);
    }
  }

  private void finish(AttemptName name, Outcome outcome) {
    running.remove(name);
    Output output =
        outcome != Outcome.SUCCESS
            ? Output.NONE
            : random.nextInt(4) == 0
                ? new Output.Stored(4096)
                : new Output.Inline("\"" + name + "\"");
    Result result = new Result(outcome, output, "it was so", 7, random.nextInt(10) == 0);
    outbox.put(name, result);
    say(new Command.TakeResult(life, name, result));
  }

  private void say(Command message) {
    if (connected) {
      up.add(message);
    }
  }

  /** On its way down. */
  record Message(WorkerLife to, AttemptName name, Effect effect) {}

  void hear(Message message) {
    switch (message.effect()) {
      case Effect.SendAssign assign -> {
        if (message.to().equals(life)) {
          take(message.name());
        }
      }
      case Effect.SendCancel cancel -> cancel(message.name());
      case Effect.SendAck ack -> {
        outbox.remove(message.name());
        returned.remove(message.name());
      }
      case Effect.SendDrain drain ->
          throw new IllegalStateException("Never on its way here: " + drain);
      case Effect.Reply reply -> throw new IllegalStateException("Not for workers: " + reply);
    }
  }

  private void take(AttemptName name) {
    if (running.contains(name) || outbox.containsKey(name)) {
      return;
    }
    if (returned.contains(name)) {
      say(new Command.TakeReturn(life, name));
    } else if (neverToStart.contains(name)) {
      say(new Command.TakeCancelUnknown(life, name));
    } else if (running.size() + outbox.size() >= room) {
      returned.add(name);
      say(new Command.TakeReturn(life, name));
    } else {
      running.add(name);
      if (!executed.add(name)) {
        throw new AssertionError("Attempt " + name + " was executed twice");
      }
    }
  }

  private void cancel(AttemptName name) {
    if (running.contains(name)) {
      int die = random.nextInt(10);
      if (die < 8) {
        finish(name, die < 7 ? Outcome.CANCELLED : Outcome.SUCCESS);
      }
    } else if (!outbox.containsKey(name) && !returned.contains(name)) {
      neverToStart.add(name);
      say(new Command.TakeCancelUnknown(life, name));
    }
  }
}
