package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Command.Result;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.engine.Engine.Moment;
import dev.baton.scheduler.engine.Event.AttemptEnded;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.RetryPolicy;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What becomes of attempts: which result counts, and whether another attempt follows. */
final class AttemptRules {
  private static final long RETURN_DELAY_MS = 100;
  private static final long LONGEST_RETURN_DELAY_MS = 5_000;

  private final ClusterState state;
  private final Fleet fleet;

  AttemptRules(ClusterState state, Fleet fleet) {
    this.state = state;
    this.fleet = fleet;
  }

  Decision takeResult(Command.TakeResult take) {
    AttemptName name = take.name();
    fleet.freed(take.from(), name);
    Verdict verdict = verdict(take.from(), name);
    if (verdict != null) {
      return ack(take, verdict);
    }
    Place place = Objects.requireNonNull(state.place(name));
    Attempt last = Objects.requireNonNull(place.state().lastAttempt());
    if (last.isLost() && take.result().outcome() != Outcome.SUCCESS) {
      return ack(take, Verdict.STALE);
    }
    return end(place, last, take.result(), new Effect.SendAck(take.from(), name, Verdict.ACCEPTED));
  }

  /** What becomes of a result of this attempt, whatever it says; null: it is to be looked at. */
  @Nullable Verdict verdict(WorkerLife from, AttemptName name) {
    Place place = state.place(name);
    if (place == null) {
      return Verdict.UNKNOWN;
    }
    TaskState task = place.state();
    Attempt last = task.lastAttempt();
    if (last == null || last.number() != name.attempt() || !isHeldBy(last, from)) {
      return Verdict.STALE;
    }
    if (task.status() == TaskStatus.RUNNING
        || (task.status() == TaskStatus.READY && last.isLost())) {
      return null;
    }
    return last.isLost() || last.outcome() == Outcome.RETURNED ? Verdict.STALE : Verdict.DUPLICATE;
  }

  private boolean isHeldBy(Attempt attempt, WorkerLife from) {
    return state.workers().life(attempt.worker()).workerId().equals(from.workerId());
  }

  private static Decision ack(Command.TakeResult take, Verdict verdict) {
    return Decision.say(new Effect.SendAck(take.from(), take.name(), verdict));
  }

  private Decision end(Place place, Attempt attempt, Result result, Effect ack) {
    Run run = place.run();
    if (result.outcome() == Outcome.CANCELLED && !run.isStopping()) {
      return endUnasked(place, result, ack);
    }
    long retryAfter =
        switch (result.outcome()) {
          case SUCCESS, CANCELLED -> AttemptEnded.FINAL;
          case FAILED -> retryAfter(place, RetryPolicy.Failure.ERROR, result.isFinal());
          case TIMEOUT -> retryAfter(place, RetryPolicy.Failure.TIMEOUT, result.isFinal());
          case LOST, RETURNED ->
              throw new IllegalArgumentException(
                  "Expected an outcome of a handler, but got " + result);
        };
    AttemptEnded ended =
        new AttemptEnded(
            place.attempt(attempt.number()),
            result.outcome(),
            result.outcome() == Outcome.SUCCESS ? result.output() : Output.NONE,
            cut(result.reason()),
            result.durationMs(),
            retryAfter);
    return withConsequences(run, place.task(), ended, ack);
  }

  /** Nobody asked for this cancel: the worker is about to end, and took its attempts with it. */
  private Decision endUnasked(Place place, Result result, Effect ack) {
    Draft draft = new Draft();
    draft.add(ack);
    lose(place, "its worker gave it up: " + result.reason(), draft);
    return draft.decision();
  }

  private Decision withConsequences(Run run, int task, AttemptEnded ended, @Nullable Effect first) {
    if (!stopsRun(run, ended)) {
      return new Decision(List.of(ended), first == null ? List.of() : List.of(first));
    }
    Draft draft = new Draft();
    if (first != null) {
      draft.add(first);
    }
    draft.add(ended);
    cancelOthers(run, task, draft);
    return draft.decision();
  }

  /** A final failure can stop the whole run: then the others' workers are told. */
  private static boolean stopsRun(Run run, AttemptEnded ended) {
    return ended.isFinal()
        && ended.outcome() != Outcome.SUCCESS
        && run.workflow().onFailure() == OnFailure.CANCEL
        && !run.isStopping();
  }

  private void cancelOthers(Run run, int failed, Draft draft) {
    String why = "task " + run.workflow().task(failed).id() + " failed";
    for (int i = 0; i < run.size(); i++) {
      Attempt last = run.task(i).lastAttempt();
      if (i != failed && run.task(i).status() == TaskStatus.RUNNING && last != null) {
        draft.add(
            new Effect.SendCancel(
                state.workers().life(last.worker()), run.nameOf(i, last.number()), why));
      }
    }
  }

  private static long retryAfter(Place place, RetryPolicy.Failure kind, boolean isFinal) {
    RetryPolicy policy = place.run().workflow().task(place.task()).retry();
    int failures = place.state().count(Outcome.FAILED, Outcome.TIMEOUT) + 1;
    if (isFinal
        || place.run().isStopping()
        || policy.finalOn().contains(kind)
        || failures >= policy.attempts()) {
      return AttemptEnded.FINAL;
    }
    return backOff(policy, failures, place);
  }

  /**
   * Doubles with each failure up to the longest; of that between three and five quarters by a hash
   * of the attempt, and what is over the longest then is mirrored at it, so that delays stay spread
   * there too.
   */
  private static long backOff(RetryPolicy policy, int failures, Place place) {
    double longest = policy.longestDelay().toMillis();
    double plain =
        Math.min(longest, policy.firstDelay().toMillis() * Math.pow(2, Math.min(failures - 1, 40)));
    long hash =
        Retained.mix(
            Retained.mix(place.run().number() ^ place.task()) ^ place.state().lastNumber());
    double share = 0.75 + 0.5 * ((hash >>> 11) * 0x1.0p-53);
    double delay = plain * share;
    return Math.max(1, (long) (delay > longest ? 2 * longest - delay : delay));
  }

  Decision takeReturn(WorkerLife from, AttemptName name, Moment moment) {
    fleet.full(from, moment.now());
    fleet.gone(from, name);
    Place place = state.place(name);
    Attempt last = place == null ? null : place.state().lastAttempt();
    if (place == null || last == null) {
      return Decision.say(new Effect.SendAck(from, name, Verdict.UNKNOWN));
    }
    if (last.number() != name.attempt() || !isHeldBy(last, from)) {
      return Decision.say(new Effect.SendAck(from, name, Verdict.STALE));
    }
    if (place.state().status() != TaskStatus.RUNNING) {
      boolean before = last.outcome() == Outcome.RETURNED;
      return Decision.say(
          new Effect.SendAck(from, name, before ? Verdict.DUPLICATE : Verdict.STALE));
    }
    int returns = place.state().count(Outcome.RETURNED);
    long retryAfter =
        place.run().isStopping()
            ? AttemptEnded.FINAL
            : Math.min(LONGEST_RETURN_DELAY_MS, RETURN_DELAY_MS << returns)
                - (returns == 0 ? RETURN_DELAY_MS : 0);
    return Decision.of(
        new AttemptEnded(
            place.attempt(last.number()),
            Outcome.RETURNED,
            Output.NONE,
            "its worker had no room",
            0,
            retryAfter),
        new Effect.SendAck(from, name, Verdict.ACCEPTED));
  }

  Decision takeCancelUnknown(WorkerLife from, AttemptName name) {
    fleet.gone(from, name);
    Place place = state.place(name);
    Attempt last = place == null ? null : place.state().lastAttempt();
    if (place == null
        || last == null
        || place.state().status() != TaskStatus.RUNNING
        || last.number() != name.attempt()
        || !place.run().isStopping()
        || !state.workers().life(last.worker()).equals(from)) {
      return Decision.NOTHING;
    }
    return Decision.of(
        new AttemptEnded(
            place.attempt(last.number()),
            Outcome.CANCELLED,
            Output.NONE,
            "cancelled before it started",
            0,
            AttemptEnded.FINAL));
  }

  Decision failInputs(AttemptRef attempt, String reason) {
    return endRunning(attempt, Outcome.FAILED, reason, null);
  }

  Decision timeOut(AttemptRef attempt) {
    Run run = state.run(attempt.run());
    Attempt last = run == null ? null : run.task(attempt.task()).lastAttempt();
    if (run == null || last == null) {
      return Decision.NOTHING;
    }
    WorkerLife life = state.workers().life(last.worker());
    AttemptName name = run.nameOf(attempt.task(), attempt.attempt());
    Effect cancel = new Effect.SendCancel(life, name, "its time was over");
    Decision decision =
        endRunning(attempt, Outcome.TIMEOUT, "its worker did not end it in time", cancel);
    if (!decision.isNothing()) {
      fleet.lingers(life, name);
    }
    return decision;
  }

  private Decision endRunning(
      AttemptRef attempt, Outcome outcome, String reason, @Nullable Effect effect) {
    Run run = state.run(attempt.run());
    if (run == null) {
      return Decision.NOTHING;
    }
    TaskState task = run.task(attempt.task());
    if (task.status() != TaskStatus.RUNNING || task.lastNumber() != attempt.attempt()) {
      return Decision.NOTHING;
    }
    Place place = new Place(run, attempt.task());
    long retryAfter =
        outcome == Outcome.TIMEOUT
            ? retryAfter(place, RetryPolicy.Failure.TIMEOUT, false)
            : AttemptEnded.FINAL;
    AttemptEnded ended =
        new AttemptEnded(attempt, outcome, Output.NONE, cut(reason), 0, retryAfter);
    return withConsequences(run, attempt.task(), ended, effect);
  }

  /** Gives an attempt up because its worker is gone. */
  void lose(Place place, String reason, Draft draft) {
    Run run = place.run();
    int losses = place.state().count(Outcome.LOST) + 1;
    int budget = run.workflow().task(place.task()).retry().maxLosses();
    boolean isFinal = run.isStopping() || losses > budget;
    String why =
        !isFinal || run.isStopping()
            ? reason
            : reason + "; it was lost " + losses + " times, and its budget is " + budget;
    AttemptEnded ended =
        new AttemptEnded(
            place.attempt(place.state().lastNumber()),
            Outcome.LOST,
            Output.NONE,
            cut(why),
            0,
            isFinal ? AttemptEnded.FINAL : 0);
    draft.add(ended);
    if (stopsRun(run, ended) && draft.stops(run)) {
      cancelOthers(run, place.task(), draft);
    }
  }

  /** Never between the halves of a character: such a text is another one after a load. */
  private static String cut(String reason) {
    int length = Limits.REASON_CHARS;
    if (reason.length() <= length) {
      return reason;
    }
    return reason.substring(
        0, Character.isHighSurrogate(reason.charAt(length - 1)) ? length - 1 : length);
  }
}
