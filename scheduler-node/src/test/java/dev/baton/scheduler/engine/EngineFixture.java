package dev.baton.scheduler.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Command.Result;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.TaskStatus;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A state with an engine on it, for scenarios: given state, when command, then events and effects.
 * Every decision is applied at once, as one entry per command unless {@link #sameEntry} says so;
 * time stands still until {@link #advance}.
 *
 * <pre>{@code
 * WorkerLife w = cluster.worker("w", 2);
 * Run run = cluster.submit(Flow.of("a", "b < a"));
 * cluster.assignAll();
 * cluster.fail(run, "a", 1).acked(Verdict.ACCEPTED);
 * cluster.expect(run, "b", TaskStatus.SKIPPED);
 * }</pre>
 */
final class EngineFixture {
  static final long GENERATION = 42;
  static final String TENANT = "default";

  final Definitions definitions = new Definitions();
  final ClusterState state = new ClusterState(GENERATION, definitions);
  final Fleet fleet = new Fleet();
  final Engine engine = new Engine(state, fleet);
  private long now = 1_800_000_000_000L;
  private long seq = 100;
  private int index;
  private long drawn;
  private boolean keepEntry;

  EngineFixture() {
    state.enterTerm(7);
    fleet.openTerm(now);
    fleet.listed();
  }

  /** What was decided, for the second half of a scenario. */
  record Decided(Decision decision) {
    Decided events(Event... expected) {
      assertEquals(List.of(expected), decision.events());
      return this;
    }

    Decided effects(Effect... expected) {
      assertEquals(List.of(expected), decision.effects());
      return this;
    }

    void nothing() {
      assertEquals(Decision.NOTHING, decision);
    }

    /** The one acknowledgement in it. */
    Decided acked(Verdict verdict) {
      assertEquals(
          List.of(verdict),
          all(Effect.SendAck.class).stream().map(Effect.SendAck::verdict).toList());
      return this;
    }

    Decided refused(RefusalCode code) {
      Answer.Refused refused = answer(Answer.Refused.class);
      assertEquals(code, refused.refusal().code());
      return events();
    }

    <A extends Answer> A answer(Class<A> kind) {
      return kind.cast(all(Effect.Reply.class).getFirst().answer());
    }

    /** The one ended attempt in it. */
    Event.AttemptEnded ended() {
      List<Event.AttemptEnded> ended =
          decision.events().stream()
              .filter(Event.AttemptEnded.class::isInstance)
              .map(Event.AttemptEnded.class::cast)
              .toList();
      assertEquals(1, ended.size(), () -> "One ended attempt in " + decision);
      return ended.getFirst();
    }

    <E extends Effect> List<E> all(Class<E> kind) {
      return decision.effects().stream().filter(kind::isInstance).map(kind::cast).toList();
    }
  }

  // Time and place in the journal.

  long now() {
    return now;
  }

  long seq() {
    return seq;
  }

  EngineFixture advance(Duration by) {
    now += by.toMillis();
    fleet.connected().forEach(life -> fleet.heard(life, now));
    return this;
  }

  /** Time passes and no worker answers. */
  EngineFixture advanceInSilence(Duration by) {
    now += by.toMillis();
    return this;
  }

  /** What follows stands in one entry. */
  EngineFixture sameEntry() {
    keepEntry = true;
    return this;
  }

  Decided decide(Command command) {
    if (!keepEntry) {
      seq++;
      index = 0;
    }
    Decision decision = engine.decide(command, new Engine.Moment(now, seq << 16 | index));
    for (Event event : decision.events()) {
      if (event instanceof Event.SpecAdded added && command instanceof Command.Submit submit) {
        definitions.put(added.number(), submit.workflow());
      }
      state.apply(event, seq, now);
      index++;
    }
    return new Decided(decision);
  }

  /** An event from nowhere. */
  void apply(Event event) {
    state.apply(event, seq, now);
  }

  // Workers.

  WorkerLife worker(String id, int slots) {
    return worker(id, slots, Flow.TYPE);
  }

  /** Registered, and with an open stream. */
  WorkerLife worker(String id, int slots, String... capabilities) {
    return worker(new WorkerLife(id, id + "-1"), slots, capabilities);
  }

  WorkerLife worker(WorkerLife life, int slots, String... capabilities) {
    register(life, slots, capabilities);
    fleet.streamOpened(life, now);
    return life;
  }

  void register(WorkerLife life, int slots, String... capabilities) {
    fleet.register(
        new Fleet.Registration(
            life, Set.of(capabilities), slots, Map.of(), "127.0.0.1:1", "test", 1));
  }

  /** The next process life of a worker, registered and connected; the one before is cut off. */
  WorkerLife restarted(WorkerLife life, int slots) {
    fleet.streamClosed(life, now);
    return worker(new WorkerLife(life.workerId(), life.incarnation() + "+"), slots, Flow.TYPE);
  }

  // Runs.

  Submission submission(Flow flow) {
    return new Submission(flow, new RunId(1, ++drawn), "", 1, TENANT, false);
  }

  /** What can be said with a submission. */
  record Submission(
      Flow flow, RunId id, String key, long body, String tenant, boolean requireWorkers) {
    Submission id(RunId other) {
      return new Submission(flow, other, key, body, tenant, requireWorkers);
    }

    Submission key(String other) {
      return new Submission(flow, id, other, body, tenant, requireWorkers);
    }

    Submission body(long other) {
      return new Submission(flow, id, key, other, tenant, requireWorkers);
    }

    Submission tenant(String other) {
      return new Submission(flow, id, key, body, other, requireWorkers);
    }

    Submission requiringWorkers() {
      return new Submission(flow, id, key, body, tenant, true);
    }

    Command.Submit command() {
      return new Command.Submit(
          new CallId(9),
          id,
          flow.hash(),
          flow.workflow(),
          tenant,
          Map.of(),
          "ann",
          key,
          body,
          RunParams.NONE,
          requireWorkers);
    }
  }

  Decided submit(Submission submission) {
    return decide(submission.command());
  }

  Run submit(Flow flow) {
    Submission submission = submission(flow);
    decide(submission.command());
    return run(submission.id());
  }

  Run run(RunId id) {
    Run run = state.run(id);
    assertNotNull(run, () -> "Run " + id + " should be live");
    return run;
  }

  Decided cancel(Run run) {
    return decide(new Command.Cancel(new CallId(9), run.id(), "bob", "not needed"));
  }

  Decided retire(Run run) {
    return decide(new Command.Retire(run.number(), 0));
  }

  // Attempts.

  AttemptName name(Run run, String task, int attempt) {
    return new AttemptName(run.id().toString(), task, attempt);
  }

  AttemptRef ref(Run run, String task, int attempt) {
    return new AttemptRef(run.number(), indexOf(run, task), attempt);
  }

  private static int indexOf(Run run, String task) {
    return run.workflow().indexOf(task).orElseThrow();
  }

  TaskState task(Run run, String task) {
    return run.task(indexOf(run, task));
  }

  void expect(Run run, String task, TaskStatus status) {
    assertEquals(status, task(run, task).status(), task);
  }

  Decided assign() {
    return decide(new Command.AssignNext());
  }

  /** Until nothing more can be assigned; what was, in order. */
  List<Effect.SendAssign> assignAll() {
    List<Effect.SendAssign> sent = new ArrayList<>();
    while (true) {
      Decided decided = assign();
      if (decided.decision().isNothing()) {
        return sent;
      }
      sent.addAll(decided.all(Effect.SendAssign.class));
    }
  }

  /** The same, as task ids. */
  List<String> assignedTasks() {
    return assignAll().stream().map(this::taskId).toList();
  }

  String taskId(Effect.SendAssign sent) {
    Run run = state.run(sent.attempt().run());
    assertNotNull(run);
    return run.workflow().task(sent.attempt().task()).id();
  }

  /** Who was given the last attempt of a task. */
  WorkerLife holder(Run run, String task) {
    Attempt last = task(run, task).lastAttempt();
    assertNotNull(last, () -> "Task " + task + " should have been assigned");
    return state.workers().life(last.worker());
  }

  static Result success() {
    return new Result(Outcome.SUCCESS, new Output.Inline("1"), "", 5, false);
  }

  static Result failure() {
    return new Result(Outcome.FAILED, Output.NONE, "broken", 5, false);
  }

  static Result result(Outcome outcome) {
    return outcome == Outcome.SUCCESS
        ? success()
        : new Result(outcome, Output.NONE, "was " + outcome, 5, false);
  }

  /** The holder of the task's last attempt says how this attempt ended. */
  Decided result(Run run, String task, int attempt, Result result) {
    return result(holder(run, task), name(run, task, attempt), result);
  }

  Decided result(WorkerLife from, AttemptName name, Result result) {
    return decide(new Command.TakeResult(from, name, result));
  }

  Decided succeed(Run run, String task, int attempt) {
    return result(run, task, attempt, success());
  }

  Decided fail(Run run, String task, int attempt) {
    return result(run, task, attempt, failure());
  }

  Decided lose(WorkerLife life) {
    return decide(new Command.LoseWorker(life, "worker " + life.workerId() + " is gone"));
  }

  Decided returned(WorkerLife from, AttemptName name) {
    return decide(new Command.TakeReturn(from, name));
  }

  Decided inventory(WorkerLife from, AttemptName... running) {
    return inventory(from, List.of(running), List.of(), List.of());
  }

  Decided inventory(
      WorkerLife from,
      List<AttemptName> running,
      List<AttemptName> results,
      List<AttemptName> returned) {
    return decide(new Command.TakeInventory(from, running, results, returned, List.of()));
  }

  /** It holds nothing but attempts that have ended and were judged. */
  Decided lingering(WorkerLife from, AttemptName... names) {
    return decide(new Command.TakeInventory(from, List.of(), List.of(), List.of(), List.of(names)));
  }

  /** Every task of the run succeeds in turn; it retires. */
  void finishAndRetire(Run run) {
    while (!run.status().isTerminal()) {
      List<Effect.SendAssign> sent = assignAll();
      assertTrue(!sent.isEmpty(), "Nothing can be assigned, but the run has not ended");
      sent.forEach(s -> {
        Run its = state.run(s.attempt().run());
        assertNotNull(its);
        result(s.to(), its.nameOf(s.attempt().task(), s.attempt().attempt()), success());
      });
    }
    retire(run);
  }

  /** A state made of this one's images says the same in every respect. */
  void assertLoadEqualsLive() {
    StateImage.assertLoadEqualsLive(state, GENERATION, now);
  }
}
