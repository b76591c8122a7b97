package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Attempt;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Place;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.engine.TaskState;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.ExpressionException;
import dev.baton.workflow.TaskSpec;
import dev.baton.workflow.Workflow;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Turns a decided attempt into what its worker gets. Expressions are evaluated in the pool, from
 * inputs that never change, so every attempt sees the same; one that waits for an input holds up no
 * other. What the pool made is checked when it leaves: the attempt must still be the one that runs,
 * there, in a run that is not being stopped.
 */
final class Assigns {
  private final Loop loop;
  private final ClusterState state;
  private final LongInputs longInputs;
  private final Backstops backstops;
  private final Consumer<Command> decide;
  private final Runnable touched;
  private boolean closed;

  /**
   * @param decide takes a command to the engine
   * @param touched something is to be flushed
   */
  Assigns(
      Loop loop,
      ClusterState state,
      Backstops backstops,
      Consumer<Command> decide,
      Runnable touched) {
    this.loop = loop;
    this.state = state;
    this.longInputs = new LongInputs(loop);
    this.backstops = backstops;
    this.decide = decide;
    this.touched = touched;
  }

  void close() {
    closed = true;
    longInputs.close();
  }

  void send(WorkerLife to, AttemptRef attempt, long seq) {
    Run run = state.run(attempt.run());
    if (run == null) {
      return;
    }
    TaskSpec spec = run.workflow().task(attempt.task());
    Optional<Map<String, String>> constants = spec.constants();
    if (constants.isPresent()) {
      leave(to, attempt, seq, constants.get());
      return;
    }
    Workflow workflow = run.workflow();
    inPool(
        to,
        attempt,
        () -> loop.resolver().outputsNeeded(workflow, spec),
        needed -> gather(to, attempt, seq, needed));
  }

  /** Something that the pool computes from what never changes. */
  private interface Computation<T> {
    T compute() throws ExpressionException;
  }

  private <T> void inPool(
      WorkerLife to, AttemptRef attempt, Computation<T> computation, Consumer<T> then) {
    loop.pool()
        .execute(() -> {
          T result;
          try {
            result = computation.compute();
          } catch (ExpressionException e) {
            loop.strand().execute(() -> fail(to, attempt, e.getMessage()));
            return;
          } catch (RuntimeException | StackOverflowError e) {
            loop.strand().execute(() -> fail(to, attempt, "evaluating its params failed: " + e));
            return;
          }
          loop.strand().execute(() -> then.accept(result));
        });
  }

  /** The inputs of an attempt, as far as they were read. */
  private static final class Inputs {
    final Map<Integer, String> outputs = new HashMap<>();
    String params = "";
    int missing;
  }

  private void gather(WorkerLife to, AttemptRef attempt, long seq, Set<Integer> needed) {
    Run run = current(to, attempt);
    if (run == null) {
      return;
    }
    Inputs inputs = new Inputs();
    Map<LongInputs.Place, Consumer<String>> missing = new LinkedHashMap<>();
    switch (run.created().params()) {
      case RunParams.Inline(String json) -> inputs.params = json.isEmpty() ? "{}" : json;
      case RunParams.Stored(long nonce, int size) ->
          missing.put(
              new LongInputs.Place.ParamsOf(run.id().toString(), nonce),
              json -> inputs.params = json);
    }
    for (int index : needed) {
      TaskState task = run.task(index);
      switch (task.output()) {
        case Output.None() -> inputs.outputs.put(index, "");
        case Output.Inline(String json) -> inputs.outputs.put(index, json);
        case Output.Stored(int size) ->
            missing.put(
                new LongInputs.Place.OutputOf(
                    new AttemptRef(run.number(), index, task.lastNumber())),
                json -> inputs.outputs.put(index, json));
      }
    }
    inputs.missing = missing.size();
    missing.forEach((place, use) ->
        longInputs.read(
            place,
            found -> {
              if (found.isEmpty()) {
                fail(to, attempt, gone(place, run));
                return;
              }
              use.accept(found.get());
              inputs.missing--;
              if (inputs.missing == 0) {
                evaluate(to, attempt, seq, inputs);
              }
            }));
    if (missing.isEmpty()) {
      evaluate(to, attempt, seq, inputs);
    }
  }

  private static String gone(LongInputs.Place place, Run run) {
    return switch (place) {
      case LongInputs.Place.ParamsOf params -> "the run's parameters are gone";
      case LongInputs.Place.OutputOf(AttemptRef attempt) ->
          "the output of task " + run.workflow().task(attempt.task()).id() + " is gone";
    };
  }

  private void evaluate(WorkerLife to, AttemptRef attempt, long seq, Inputs inputs) {
    Run run = current(to, attempt);
    if (run == null) {
      return;
    }
    Workflow workflow = run.workflow();
    TaskSpec spec = workflow.task(attempt.task());
    inPool(
        to,
        attempt,
        () ->
            loop.resolver()
                .resolve(
                    workflow, spec, inputs.params, index -> inputs.outputs.getOrDefault(index, "")),
        params -> leave(to, attempt, seq, params));
  }

  private void fail(WorkerLife to, AttemptRef attempt, @Nullable String why) {
    if (current(to, attempt) != null) {
      decide.accept(new Command.FailInputs(attempt, why == null ? "its params failed" : why));
    }
  }

  private void leave(WorkerLife to, AttemptRef attempt, long seq, Map<String, String> params) {
    Run run = current(to, attempt);
    if (run == null) {
      return;
    }
    TaskSpec spec = run.workflow().task(attempt.task());
    long timeout = spec.timeout().toMillis();
    loop.sink()
        .assign(
            to,
            new WorkerSink.Assignment(
                run.nameOf(attempt.task(), attempt.attempt()),
                spec.type(),
                spec.priority(),
                params,
                timeout,
                run.createdAt(),
                seq));
    backstops.sent(attempt, timeout);
    touched.run();
  }

  /** What was sent has waited until now: whether it still is to leave. Its time counts anew. */
  boolean leavesLate(WorkerLife to, AttemptName name) {
    Place place = state.place(name);
    if (place == null || current(to, place.attempt(name.attempt())) == null) {
      return false;
    }
    TaskSpec spec = place.run().workflow().task(place.task());
    backstops.sent(place.attempt(name.attempt()), spec.timeout().toMillis());
    return true;
  }

  /** The run, if this attempt is still to be started there. */
  private @Nullable Run current(WorkerLife to, AttemptRef attempt) {
    Run run = closed ? null : state.run(attempt.run());
    if (run == null || run.isStopping()) {
      return null;
    }
    TaskState task = run.task(attempt.task());
    Attempt last = task.lastAttempt();
    return task.status() == TaskStatus.RUNNING
            && last != null
            && last.number() == attempt.attempt()
            && state.workers().life(last.worker()).equals(to)
        ? run
        : null;
  }
}
