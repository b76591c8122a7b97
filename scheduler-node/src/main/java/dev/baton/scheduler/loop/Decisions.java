package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Decision;
import dev.baton.scheduler.engine.Effect;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Engine;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.journal.Replica;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the engine decide, applies what it decided, and lets the effects wait for its entry.
 *
 * <p>An exception while deciding changes nothing. One while applying ends the term before the entry
 * is written; whoever asked hears a refusal that is not repeated, so a poisonous command does not
 * go from leader to leader.
 */
final class Decisions {
  private static final Logger LOG = LoggerFactory.getLogger(Decisions.class);
  private static final int MAX_DEFERRED = 20_000;
  static final Refusal FAULT =
      new Refusal(
          RefusalCode.INTERNAL,
          "A fault of the scheduler; its log says more. Do not repeat the call.");

  private final Loop loop;
  private final Replica replica;
  private final Engine engine;
  private final Pipeline pipeline;
  private final Calls calls;
  private final Listener listener;
  private final Deque<Command> deferred = new ArrayDeque<>();
  private boolean closed;

  /** Called within a decision. */
  interface Listener {
    /** An event is in the state and in the open entry. */
    void onEvent(Event event);

    /** Something was decided that must be sent. */
    void onDecided();

    /** All that was decided before is durable. */
    void perform(Effect effect, long seq);

    /** The state is not what the journal will say: the term must end. */
    void onApplyFailed(String what);
  }

  Decisions(
      Loop loop,
      Replica replica,
      Engine engine,
      Pipeline pipeline,
      Calls calls,
      Listener listener) {
    this.loop = loop;
    this.replica = replica;
    this.engine = engine;
    this.pipeline = pipeline;
    this.calls = calls;
    this.listener = listener;
  }

  ClusterState state() {
    return replica.state();
  }

  void close() {
    closed = true;
    deferred.clear();
  }

  /**
   * An internal command. One that the open entry has no room for waits for the next. One that would
   * never fit, or that comes when very many wait, is dropped: it comes again with the next
   * inventory or timer.
   */
  void soon(Command command) {
    int room = Room.of(command);
    if (room > Room.MOST || deferred.size() >= MAX_DEFERRED) {
      loop.listener().onDropped(command.getClass().getSimpleName());
    } else if (deferred.isEmpty() && pipeline.hasRoom(room, 0)) {
      now(command);
    } else {
      deferred.addLast(command);
    }
  }

  boolean areDeferred() {
    return !deferred.isEmpty();
  }

  /** Decides what has waited, as far as there is room now. */
  void decideDeferred() {
    while (!deferred.isEmpty() && pipeline.hasRoom(Room.of(deferred.getFirst()), 0)) {
      now(deferred.removeFirst());
    }
  }

  /** False: nothing came of it. The caller has seen to it that there is room. */
  boolean now(Command command) {
    return now(command, null);
  }

  /**
   * Like {@link #now(Command)}.
   *
   * @param definition what a submission names
   */
  boolean now(Command command, Submission.@Nullable Definition definition) {
    if (closed) {
      return false;
    }
    long now = loop.now();
    Decision decision;
    try {
      decision = engine.decide(command, new Engine.Moment(now, pipeline.nextNumber()));
    } catch (RuntimeException e) {
      fault("Deciding", command, e);
      return false;
    }
    try {
      for (Event event : decision.events()) {
        apply(event, now, definition);
      }
    } catch (RuntimeException e) {
      fault("Applying", command, e);
      listener.onApplyFailed("applying what came of " + name(command) + " failed");
      return false;
    }
    for (Effect effect : decision.effects()) {
      long seq = pipeline.visibleSeq();
      pipeline.whenDurable(() -> listener.perform(effect, seq));
    }
    if (!decision.isNothing()) {
      listener.onDecided();
    }
    return !decision.isNothing();
  }

  private void apply(Event event, long now, Submission.@Nullable Definition definition) {
    if (event instanceof Event.SpecAdded added) {
      if (definition == null) {
        throw new IllegalStateException("Expected a definition beside " + added);
      }
      replica.definitions().put(added.number(), definition.workflow());
      pipeline.add(event, now);
      pipeline.addSpec(added.number(), definition.stored());
    } else {
      pipeline.add(event, now);
    }
    listener.onEvent(event);
  }

  private void fault(String doing, Command command, RuntimeException e) {
    LOG.error("{} {} failed", doing, name(command), e);
    loop.listener().onFault(doing.toLowerCase(Locale.ROOT) + " " + name(command));
    CallId call =
        switch (command) {
          case Command.Submit submit -> submit.call();
          case Command.Cancel cancel -> cancel.call();
          case Command.Cordon cordon -> cordon.call();
          case Command.Uncordon uncordon -> uncordon.call();
          default -> null;
        };
    if (call != null) {
      calls.answer(call, new Answer.Refused(FAULT), 0);
    }
  }

  private static String name(Command command) {
    return command.getClass().getSimpleName();
  }
}
