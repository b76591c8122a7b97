package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Engine.Moment;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.workflow.TaskSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What becomes of runs: their creation, their end at somebody's wish, and their leaving. */
final class RunRules {
  private final ClusterState state;
  private final Fleet fleet;

  RunRules(ClusterState state, Fleet fleet) {
    this.state = state;
    this.fleet = fleet;
  }

  Decision submit(Command.Submit submit, Moment moment) {
    Decision before = answerIfKnown(submit);
    if (before != null) {
      return before;
    }
    List<String> unoffered = unofferedTypes(submit);
    if (submit.requireWorkers() && !unoffered.isEmpty()) {
      return Decision.refuse(
          submit.call(),
          new Refusal(
              RefusalCode.NO_WORKER,
              "No live worker offers "
                  + String.join(", ", unoffered)
                  + ": start one, or submit without requiring workers and the tasks will wait."));
    }
    List<Event> events = new ArrayList<>(2);
    Spec spec = state.spec(submit.hash());
    long specNumber;
    if (spec == null) {
      specNumber = moment.nextNumber();
      events.add(new Event.SpecAdded(specNumber, submit.hash()));
    } else {
      specNumber = spec.number();
    }
    events.add(
        new Event.RunCreated(
            moment.nextNumber() + events.size(),
            submit.id(),
            specNumber,
            submit.tenant(),
            submit.labels(),
            submit.actor(),
            submit.key(),
            submit.bodyHash(),
            submit.params()));
    List<String> warnings =
        unoffered.stream()
            .map(type -> "No live worker offers " + type + ": its tasks wait for one.")
            .toList();
    return new Decision(
        events,
        List.of(
            new Effect.Reply(submit.call(), new Answer.Submitted(submit.id(), false, warnings))));
  }

  /** Idempotency: by the run's id, then by the user's key. Null: it is new. */
  private @Nullable Decision answerIfKnown(Command.Submit submit) {
    Answer same = new Answer.Submitted(submit.id(), true, List.of());
    String idInUse = "Run id " + submit.id() + " is in use with another body: draw a new one.";
    Run live = state.run(submit.id());
    if (live != null) {
      return answer(submit, live.created().bodyHash(), same, idInUse);
    }
    Retained.Row row = state.retained().find(submit.id());
    if (row != null) {
      return answer(submit, row.bodyHash(), same, idInUse);
    }
    return submit.key().isEmpty() ? null : answerIfKeyKnown(submit);
  }

  private @Nullable Decision answerIfKeyKnown(Command.Submit submit) {
    String keyInUse =
        "Key '"
            + submit.key()
            + "' is in use with another body: use a new key, or submit the same workflow and parameters.";
    Run live = state.runByKey(submit.tenant(), submit.key());
    if (live != null) {
      Answer first = new Answer.Submitted(live.id(), true, List.of());
      return answer(submit, live.created().bodyHash(), first, keyInUse);
    }
    Retained.Row row = state.retained().findKey(submit.tenant(), submit.key());
    if (row == null) {
      return null;
    }
    Answer first = new Answer.SubmittedBefore(row.historySeq(), submit.tenant(), submit.key());
    return answer(submit, row.bodyHash(), first, keyInUse);
  }

  private static Decision answer(
      Command.Submit submit, long knownBody, Answer same, String conflict) {
    return knownBody == submit.bodyHash()
        ? Decision.say(new Effect.Reply(submit.call(), same))
        : Decision.refuse(submit.call(), new Refusal(RefusalCode.KEY_CONFLICT, conflict));
  }

  private List<String> unofferedTypes(Command.Submit submit) {
    TreeSet<String> types = new TreeSet<>();
    for (TaskSpec task : submit.workflow().tasks()) {
      types.add(task.type());
    }
    types.removeIf(fleet::isOffered);
    return List.copyOf(types);
  }

  Decision cancel(Command.Cancel cancel) {
    Run run = state.run(cancel.id());
    if (run == null) {
      return Decision.refuse(
          cancel.call(),
          state.retained().find(cancel.id()) == null
              ? new Refusal(RefusalCode.RUN_NOT_FOUND, "Run " + cancel.id() + " is not known.")
              : new Refusal(
                  RefusalCode.RUN_NOT_FOUND,
                  "Run " + cancel.id() + " has ended already: nothing is left to cancel."));
    }
    if (run.isStopping() || run.status().isTerminal()) {
      return Decision.say(new Effect.Reply(cancel.call(), new Answer.CancelRecorded(run.status())));
    }
    List<Effect> effects = cancels(run, "the run was cancelled");
    RunStatus after = effects.isEmpty() ? RunStatus.CANCELLED : RunStatus.RUNNING;
    effects.add(new Effect.Reply(cancel.call(), new Answer.CancelRecorded(after)));
    return new Decision(
        List.of(new Event.RunCancelled(run.number(), cancel.actor(), cancel.reason())), effects);
  }

  Decision timeOut(long number) {
    Run run = state.run(number);
    if (run == null || run.isStopping() || run.status().isTerminal()) {
      return Decision.NOTHING;
    }
    return new Decision(
        List.of(new Event.RunTimedOut(number)), cancels(run, "the time of the run was over"));
  }

  /** Tells the workers of all running attempts to stop them. */
  List<Effect> cancels(Run run, String reason) {
    List<Effect> effects = new ArrayList<>();
    for (int i = 0; i < run.size(); i++) {
      Attempt last = run.task(i).lastAttempt();
      if (run.task(i).status() == TaskStatus.RUNNING && last != null) {
        effects.add(
            new Effect.SendCancel(
                state.workers().life(last.worker()), run.nameOf(i, last.number()), reason));
      }
    }
    return effects;
  }

  Decision retire(long number, int parts) {
    Run run = state.run(number);
    return run == null || !run.status().isTerminal()
        ? Decision.NOTHING
        : Decision.of(new Event.RunRetired(number, parts));
  }

  Decision dropSpec(long number) {
    Spec spec = state.spec(number);
    return spec == null || spec.uses() > 0
        ? Decision.NOTHING
        : Decision.of(new Event.SpecDropped(number));
  }
}
