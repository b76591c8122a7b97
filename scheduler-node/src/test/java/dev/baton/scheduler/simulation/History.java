package dev.baton.scheduler.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Keys;
import dev.baton.coordination.simulation.Commit;
import dev.baton.coordination.simulation.World;
import dev.baton.proto.v1.AttemptName;
import dev.baton.proto.v1.ClusterRecord;
import dev.baton.proto.v1.ResultAck;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.TaskResult;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Definitions;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.journal.OpenEntry;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.workflow.Canonical;
import dev.baton.workflow.OnFailure;
import dev.baton.workflow.RetryPolicy;
import dev.baton.workflow.TaskSpec;
import dev.baton.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** A history made by hand: one worker with two slots, one run, and who leads. */
final class History {
  static final int SLOTS = 2;
  private static final long GENERATION = 7;
  private static final long RUN = 1_000;
  private static final long SPEC = 999;
  private static final RunId ID = new RunId(1, 2);
  private static final WorkerLife WORKER = new WorkerLife("w1", "a");

  private final Keys keys = new Keys("baton");
  private final Judge judge = new Judge();
  private final Coverage coverage = new Coverage();
  private final Map<SpecHash, Workflow> workflows = new HashMap<>();
  private final TreeMap<ByteString, KeyValue> store =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());
  private final Map<Integer, Long> terms = new HashMap<>();
  private final JournalObserver observer;
  private final WireWatch wires;
  private long now = 1_000_000;
  private long ahead;
  private long revision;
  private long term;

  History() {
    TaskBook book = new TaskBook(judge, this::workflowOf, life -> SLOTS);
    observer =
        new JournalObserver(
            keys,
            judge,
            coverage,
            new Trace(new World(1)),
            book,
            new JournalObserver.Surroundings(
                this::workflowOf,
                () -> now,
                (from, to) -> List.copyOf(store.subMap(from, to).values()),
                (t, head) -> false));
    wires = new WireWatch(judge, coverage, observer, () -> now, life -> false);
    book.beforeEnd(wires::ended);
    commit(
        put(
            keys.cluster(),
            ClusterRecord.newBuilder().setGeneration(GENERATION).build().toByteString()));
  }

  Judge judge() {
    return judge;
  }

  Keys keys() {
    return keys;
  }

  JournalObserver observer() {
    return observer;
  }

  private Workflow workflowOf(SpecHash hash) {
    return Objects.requireNonNull(workflows.get(hash));
  }

  private KeyValue put(ByteString key, ByteString value) {
    return new KeyValue(key, value, revision + 1, revision + 1, 0);
  }

  private void commit(KeyValue... puts) {
    revision++;
    for (KeyValue put : puts) {
      store.put(put.key(), put);
    }
    observer.commit(new Commit(revision, Arrays.asList(puts), List.of()));
  }

  /** The election number so many. */
  History elect(int number) {
    commit(put(keys.leader(), ByteString.EMPTY));
    term = revision;
    terms.put(number, term);
    return this;
  }

  long termOf(int number) {
    return terms.getOrDefault(number, 0L);
  }

  // Entries.

  History entry(Event... events) {
    write(term, observer.seq() + 1, true, events);
    return this;
  }

  void entryOf(long otherTerm) {
    write(otherTerm, observer.seq() + 1, true, new Event.TermOpened("s1"));
  }

  void entryAt(long seq) {
    write(term, seq, true, new Event.TermOpened("s1"));
  }

  void entryWithoutHead() {
    write(term, observer.seq() + 1, false, new Event.TermOpened("s1"));
  }

  void touchOf(long otherTerm) {
    commit(put(keys.head(), OpenEntry.head(otherTerm, observer.seq(), now)));
  }

  private void write(long ofTerm, long seq, boolean withHead, Event... events) {
    OpenEntry open = new OpenEntry(keys, ofTerm, seq, now + ahead);
    for (Event event : events) {
      open.add(event, now + ahead);
    }
    KeyValue entry = put(keys.journal(seq), open.encodeEntry());
    if (withHead) {
      commit(entry, put(keys.head(), open.encodeHead()));
    } else {
      commit(entry);
    }
  }

  /** True time and journal time go on. */
  void pass(long millis) {
    now += millis;
  }

  void jumpJournalTime(long millis) {
    ahead += millis;
  }

  // What nodes have, and what stands in etcd.

  ClusterState stateAfter(Event event) {
    ClusterState state = new ClusterState(GENERATION, new Definitions());
    state.enterTerm(term);
    state.apply(event, 1, now);
    return state;
  }

  void loads() {
    observer.compareLoad();
  }

  void lose(ByteString key) {
    store.remove(key);
  }

  void deleteSpec() {
    revision++;
    observer.commit(new Commit(revision, List.of(), List.of(keys.spec(SPEC))));
  }

  // One run, and what becomes of it.

  /** Tasks by their ids, such as {@code b < a}: b depends on a. */
  History runOf(String... tasks) {
    Workflow workflow = workflow(tasks);
    SpecHash hash = SpecHash.of(Canonical.of(workflow).hash());
    workflows.put(hash, workflow);
    KeyValue spec = put(keys.spec(SPEC), ByteString.copyFrom(Canonical.of(workflow).compressed()));
    commit(spec);
    return entry(
        new Event.SpecAdded(SPEC, hash),
        new Event.RunCreated(
            RUN, ID, SPEC, "default", Map.of(), "me", "", 1, new RunParams.Inline("")),
        new Event.WorkerNamed(1, WORKER));
  }

  private static Workflow workflow(String... tasks) {
    List<String> ids = new ArrayList<>();
    List<TaskSpec> specs = new ArrayList<>();
    for (String task : tasks) {
      List<String> words = List.of(task.split("[ <]+", -1));
      List<Integer> before = words.stream().skip(1).map(ids::indexOf).toList();
      ids.add(words.getFirst());
      specs.add(
          new TaskSpec(
              specs.size(),
              words.getFirst(),
              "echo",
              before,
              Map.of(),
              Duration.ZERO,
              RetryPolicy.DEFAULT,
              5));
    }
    return new Workflow("made", "", Map.of(), OnFailure.FINISH, Duration.ofMinutes(1), specs);
  }

  History assign(int task, int attempt) {
    return entry(new Event.AttemptAssigned(new AttemptRef(RUN, task, attempt), 1));
  }

  History end(int task, int attempt, Outcome outcome, long retryAfter) {
    Output output =
        outcome == Outcome.SUCCESS ? new Output.Inline(output(task, attempt)) : Output.NONE;
    return entry(
        new Event.AttemptEnded(
            new AttemptRef(RUN, task, attempt), outcome, output, "", 1, retryAfter));
  }

  /** A handler ends so. */
  void result(int task, int attempt, TaskResult.Status status) {
    wires.finished(
        TaskResult.newBuilder()
            .setRunId(ID.toString())
            .setTaskId(taskId(task))
            .setAttempt(attempt)
            .setStatus(status)
            .setOutputJson(output(task, attempt))
            .build());
  }

  History success(int task, int attempt) {
    result(task, attempt, TaskResult.Status.SUCCESS);
    return end(task, attempt, Outcome.SUCCESS, -1);
  }

  private static String output(int task, int attempt) {
    return "\"" + task + "#" + attempt + "\"";
  }

  History cancel() {
    return entry(new Event.RunCancelled(RUN, "me", ""));
  }

  void timeOutRun() {
    entry(new Event.RunTimedOut(RUN));
  }

  private String taskId(int task) {
    return observer.book().run(RUN).workflow.task(task).id();
  }

  private TaskAssignment assignment(int task, int attempt) {
    return TaskAssignment.newBuilder()
        .setWorkflowId(ID.toString())
        .setTaskId(taskId(task))
        .setAttempt(attempt)
        .build();
  }

  // What is said.

  /** A handler starts beside so many others. */
  History starts(int task, int attempt, int others) {
    wires.started(WORKER, SLOTS, assignment(task, attempt), others);
    return this;
  }

  void sends(int task, int attempt) {
    wires.leaving(
        "s1",
        WORKER,
        SchedulerMessage.newBuilder()
            .setTerm(term)
            .addAssignments(assignment(task, attempt))
            .build());
  }

  void acknowledges(int task, int attempt, ResultAck.Verdict verdict) {
    wires.leaving(
        "s1",
        WORKER,
        SchedulerMessage.newBuilder()
            .setTerm(term)
            .addAcks(
                ResultAck.newBuilder()
                    .setVerdict(verdict)
                    .setAttempt(
                        AttemptName.newBuilder()
                            .setRunId(ID.toString())
                            .setTaskId(taskId(task))
                            .setAttempt(attempt)))
            .build());
  }
}
