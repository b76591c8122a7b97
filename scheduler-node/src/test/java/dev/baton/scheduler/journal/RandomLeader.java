package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Decision;
import dev.baton.scheduler.engine.Engine;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.scheduler.testing.Workflows;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * A leader without an etcd: what happens is drawn from a seed, and its entries are handed on with
 * all that is written beside them. Its replica is what every other one must come to.
 */
final class RandomLeader {
  static final long GENERATION = 4711;

  private static final List<Submission.Definition> DEFINITIONS =
      List.of(
          Workflows.definition(Workflows.diamond("diamond")),
          Workflows.definition(Workflows.wide("wide", 6)),
          Workflows.definition(
              """
              name: careful
              timeout: 1h
              onFailure: cancel
              tasks:
                - {id: a, type: echo, retry: {attempts: 3, delay: 1s}, priority: 9}
                - {id: b, type: other, dependsOn: [a], retry: {attempts: 2, delay: 30d, maxDelay: 30d}}
              """));

  final Replica replica = new Replica(GENERATION);
  private final Keys keys;
  private final Random random;
  private final Fleet fleet = new Fleet();
  private final Engine engine = new Engine(replica.state(), fleet);
  private final List<WorkerLife> lives = new ArrayList<>();
  private long now = 1_800_000_000_000L;
  private long term = 10;
  private OpenEntry open;

  /** An entry, and every key that is written with it. */
  record Written(long seq, List<Op> ops) {}

  RandomLeader(Keys keys, long seed) {
    this.keys = keys;
    this.random = new Random(seed);
    this.open = new OpenEntry(keys, term, 1, now);
    replica.begin(term);
    fleet.openTerm(now);
    fleet.listed();
    for (int i = 0; i < 3; i++) {
      startWorker("w" + i, 1);
    }
  }

  private void startWorker(String id, int life) {
    WorkerLife started = new WorkerLife(id, "i" + life);
    lives.removeIf(l -> l.workerId().equals(id));
    lives.add(started);
    fleet.register(
        new Fleet.Registration(started, Set.of("*"), 4, Map.of(), "127.0.0.1:1", "1", 1));
    fleet.streamOpened(started, now);
    // What it does not hold is repeated, what an older life held is lost.
    decide(new Command.TakeInventory(started, List.of(), List.of(), List.of(), List.of()));
  }

  /** So many entries of some events each. */
  List<Written> entries(int count) {
    List<Written> written = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      written.add(next());
    }
    return written;
  }

  Written next() {
    do {
      int steps = 1 + random.nextInt(8);
      for (int i = 0; i < steps; i++) {
        now += random.nextInt(20);
        lives.forEach(life -> fleet.heard(life, now));
        step();
      }
    } while (open.isEmpty());
    return close();
  }

  /** Puts one more event into the entry that {@link #close} ends. */
  void add(Event event) {
    apply(event);
  }

  Written close() {
    List<Op> ops = new ArrayList<>();
    ByteString bytes = open.encodeEntry();
    ops.add(new Op.Put(keys.journal(open.seq()), bytes, 0));
    ops.add(new Op.Put(keys.head(), open.encodeHead(), 0));
    ops.addAll(open.encodeBeside());
    Written written = new Written(open.seq(), ops);
    replica.end(open.seq(), open.lastAt());
    replica.addJournalBytes(bytes.size());
    open = new OpenEntry(keys, term, open.seq() + 1, now);
    return written;
  }

  /** Installs a snapshot that somebody took. */
  void install(SnapshotManifest manifest) {
    apply(new Event.SnapshotInstalled(manifest.getSeq()));
    open.addPut(keys.snapshot(), manifest.toByteString());
  }

  private void step() {
    switch (random.nextInt(24)) {
      case 0, 1, 2 -> submit();
      case 3, 4, 5, 6, 7, 8, 9 -> decide(new Command.AssignNext());
      case 10, 11, 12, 13, 14, 15 -> endOne();
      case 16 -> pick(replica.state().runs()).ifPresent(this::cancel);
      case 17, 18, 19 -> pick(replica.state().ended()).ifPresent(this::retire);
      case 20 -> {
        WorkerLife life = lives.get(random.nextInt(lives.size()));
        startWorker(life.workerId(), random.nextInt(1_000_000));
      }
      case 21 -> {
        if (random.nextInt(10) == 0 && open.isEmpty()) {
          term += 5;
          open = new OpenEntry(keys, term, open.seq(), now);
          replica.begin(term);
          decide(new Command.OpenTerm("node-" + random.nextInt(3)));
        }
      }
      case 22 -> {
        var oldest = replica.state().retained().oldest();
        if (oldest != null && random.nextInt(10) == 0) {
          decide(new Command.DropHistory(oldest.historySeq()));
        }
        changeService("w" + random.nextInt(3));
      }
      case 23 -> {
        now += random.nextInt(10) == 0 ? 2 * 3_600_000 : 1000;
        if (replica.state().nextDeadline() <= now) {
          decide(new Command.TimeOutRun(replica.state().nextDeadlineRun()));
        }
        pick(replica.state().specs())
            .ifPresent(spec -> decide(new Command.DropSpec(spec.number())));
      }
      default -> throw new AssertionError();
    }
  }

  private void changeService(String worker) {
    Command.CallId call = new Command.CallId(1);
    decide(
        random.nextInt(3) == 0
            ? new Command.Cordon(call, worker, random.nextBoolean(), "", "somebody")
            : new Command.Uncordon(call, worker));
  }

  private <T> Optional<T> pick(Collection<T> all) {
    return all.isEmpty()
        ? Optional.empty()
        : all.stream().skip(random.nextInt(all.size())).findFirst();
  }

  private void submit() {
    Submission.Definition definition = DEFINITIONS.get(random.nextInt(DEFINITIONS.size()));
    RunParams params =
        switch (random.nextInt(3)) {
          case 0 -> new RunParams.Inline("");
          case 1 -> new RunParams.Inline("{\"x\":" + random.nextInt() + "}");
          default -> new RunParams.Stored(random.nextLong(), 3000);
        };
    submit(definition, params, random.nextInt(2) == 0 ? "" : "key-" + random.nextInt(1 << 20));
  }

  void submit(Submission.Definition definition, RunParams params, String key) {
    Command.Submit submit =
        new Command.Submit(
            new Command.CallId(1),
            new RunId(now << 16 | random.nextInt(1 << 16), random.nextLong()),
            definition.hash(),
            definition.workflow(),
            random.nextBoolean() ? "default" : "other",
            random.nextBoolean() ? Map.of() : Map.of("team", "röd", "b", "2", "a", "1"),
            random.nextBoolean() ? "" : "somebody",
            key,
            random.nextLong(),
            params,
            false);
    Decision decision = engine.decide(submit, new Engine.Moment(now, open.nextNumber()));
    for (Event event : decision.events()) {
      if (event instanceof Event.SpecAdded added) {
        replica.definitions().put(added.number(), definition.workflow());
        open.addPut(keys.spec(added.number()), definition.stored());
      }
      apply(event);
    }
  }

  private void cancel(Run run) {
    decide(new Command.Cancel(new Command.CallId(1), run.id(), "somebody", "no use"));
  }

  private void retire(Run run) {
    HistoryRun record =
        HistoryRun.newBuilder()
            .setRecord(
                RunCodec.encodeForHistory(
                    run, ref -> replica.state().workers().life(ref).workerId()))
            .build();
    decide(new Command.Retire(run.number(), 0));
    open.addHistory(record);
  }

  private void endOne() {
    pick(replica.state().workers().busy())
        .ifPresent(life -> {
          AttemptRef attempt = replica.state().workers().running(life).iterator().next();
          Run run = Objects.requireNonNull(replica.state().run(attempt.run()));
          AttemptName name = run.nameOf(attempt.task(), attempt.attempt());
          if (random.nextInt(10) == 0) {
            decide(new Command.TakeReturn(life, name));
          } else {
            decide(new Command.TakeResult(life, name, result()));
          }
        });
  }

  private Command.Result result() {
    return switch (random.nextInt(8)) {
      case 0 ->
          new Command.Result(
              Outcome.FAILED, Output.NONE, "broken: 1 \"ö\"", 12, random.nextBoolean());
      case 1 -> new Command.Result(Outcome.TIMEOUT, Output.NONE, "too slow", 1000, false);
      case 2 -> new Command.Result(Outcome.CANCELLED, Output.NONE, "stopping", 3, false);
      case 3 -> new Command.Result(Outcome.SUCCESS, new Output.Stored(5000), "", 7, false);
      case 4 -> new Command.Result(Outcome.SUCCESS, Output.NONE, "", 0, false);
      default ->
          new Command.Result(
              Outcome.SUCCESS,
              new Output.Inline("{\"n\":" + random.nextInt() + "}"),
              "",
              40,
              false);
    };
  }

  void decide(Command command) {
    Decision decision = engine.decide(command, new Engine.Moment(now, open.nextNumber()));
    decision.events().forEach(this::apply);
  }

  private void apply(Event event) {
    long at = open.add(event, now);
    replica.apply(event, at);
  }

  long now() {
    return now;
  }
}
