package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Txn;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Effect;
import dev.baton.scheduler.engine.Engine;
import dev.baton.scheduler.engine.Event;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.journal.Replica;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One term: commands are decided, effects go when they may, and what becomes due is seen to.
 * Dropped as a whole when the term ends, with the replica; there is no roll-back.
 */
final class Leading implements Pipeline.Listener, Decisions.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(Leading.class);
  private static final Duration TOUCH_AFTER = Duration.ofMillis(500);
  private static final int ASSIGNS_PER_TURN = 2_000;

  private final Loop loop;
  private final Replica replica;
  private final long term;
  private final Fleet fleet;
  private final Pipeline pipeline;
  private final Calls calls;
  private final Decisions decisions;
  private final Admission admission;
  private final LeaderReads leaderReads;
  private final Assigns assigns;
  private final Backstops backstops;
  private final Results results;
  private final Retirement retirement;
  private final Snapshots snapshots;
  private final Sweeper sweeper;
  private final Watchers watchers;
  private final Surroundings around;
  private final Consumer<End> whenOver;
  private boolean opened;
  private boolean over;
  private boolean turnScheduled;
  private long nextInventoryNanos;

  /**
   * What outlives a term.
   *
   * @param standbys addresses of the nodes that follow
   * @param storeIsFull etcd is nearly out of space
   */
  record Surroundings(
      Fleet fleet,
      Watchers watchers,
      Requests requests,
      Reads reads,
      Supplier<List<String>> standbys,
      BooleanSupplier storeIsFull) {}

  /** Why a term ended. {@code fault}: because of a bug. */
  record End(String why, boolean fault) {}

  Leading(
      Loop loop,
      Replica replica,
      long term,
      long headRevision,
      LongSupplier leaseDeadline,
      Surroundings around,
      Consumer<End> whenOver) {
    this.loop = loop;
    this.replica = replica;
    this.term = term;
    this.fleet = around.fleet();
    this.around = around;
    this.watchers = around.watchers();
    this.whenOver = whenOver;
    this.calls = new Calls(loop.listener());
    this.pipeline = new Pipeline(loop, replica, term, headRevision, leaseDeadline, this);
    this.leaderReads = new LeaderReads(loop, pipeline);
    Engine engine = new Engine(replica.state(), fleet);
    this.decisions = new Decisions(loop, replica, engine, pipeline, calls, this);
    this.admission = new Admission(loop, term, around, calls, pipeline, decisions, this::end);
    this.backstops = new Backstops(loop::now);
    this.assigns = new Assigns(loop, replica.state(), backstops, decisions::soon, this::touched);
    this.results = new Results(loop, replica.state(), backstops, term, decisions::soon, this::end);
    this.retirement = new Retirement(loop, replica.state(), term, this);
    this.snapshots = new Snapshots(loop, replica, term, this, around.standbys());
    this.sweeper = new Sweeper(loop, replica.state(), term, pipeline::whenDurable);
  }

  // What others ask.

  long term() {
    return term;
  }

  Pipeline pipeline() {
    return pipeline;
  }

  Decisions decisions() {
    return decisions;
  }

  ClusterState state() {
    return replica.state();
  }

  /** What a read sees: the state runs ahead of what is durable, so its answer must wait. */
  ReadView view(long seq) {
    return new ReadView(
        state(), fleet, seq, Role.LEADING, loop.now(), Duration.ZERO, watchers.progress());
  }

  /** Begins the term. */
  void open() {
    loop.clock().lead();
    long now = loop.now();
    fleet.openTerm(now);
    for (WorkerLife life : state().workers().busy()) {
      for (AttemptRef attempt : state().workers().running(life)) {
        backstops.known(attempt, timeoutOf(attempt));
      }
    }
    long historyDropped = state().historyDropped();
    long installed = state().installedSnapshot();
    decisions.now(new Command.OpenTerm(loop.settings().nodeId()));
    pipeline.whenDurable(() -> {
      sweeper.historyIsDropped(historyDropped);
      snapshots.truncate(installed);
    });
    greet();
    turn();
  }

  /** The term is this node's since it won: to ask what workers hold tells nothing else. */
  private void greet() {
    opened = true;
    nextInventoryNanos = loop.strand().nanoTime() + Limits.INVENTORY_EVERY.toNanos();
    loop.sink().openTerm(term);
    fleet.connected().forEach(this::greet);
    loop.sink().flush();
  }

  private void greet(WorkerLife life) {
    loop.sink().greet(life);
    if (state().cordons().drains(life)) {
      loop.sink().drain(life);
    }
  }

  /** A worker has opened a stream: it is asked for all that it holds. */
  void onStreamOpened(WorkerLife life) {
    if (opened) {
      greet(life);
      touched();
    }
  }

  /** Its inventory settles what an older life of it was running. */
  void onRegistered(WorkerLife life) {
    if (opened) {
      loop.sink().askInventory(life);
    }
    touched();
  }

  void onReport(WorkerLife from, WorkerReport report, Runnable taken) {
    if (!opened) {
      taken.run();
      return;
    }
    WorkerReport.Inventory inventory = report.inventory();
    if (inventory != null && inventory.term() == term) {
      onInventory(from, inventory);
    }
    report.returned().forEach(name -> decisions.soon(new Command.TakeReturn(from, name)));
    report
        .cancelledUnknown()
        .forEach(name -> decisions.soon(new Command.TakeCancelUnknown(from, name)));
    report.progress().forEach(progress -> watchers.onProgress(progress));
    results.take(from, report.results(), taken);
    touched();
  }

  /** An assignment could not leave at once; whether it is to leave now. */
  boolean leavesLate(WorkerLife to, AttemptName name) {
    return assigns.leavesLate(to, name);
  }

  private void onInventory(WorkerLife from, WorkerReport.Inventory inventory) {
    loop.listener().onInventory();
    decisions.soon(
        new Command.TakeInventory(
            from,
            inventory.running(),
            inventory.results(),
            inventory.returned(),
            inventory.lingering()));
    for (AttemptRef attempt : state().workers().running(from)) {
      backstops.known(attempt, timeoutOf(attempt));
    }
  }

  private long timeoutOf(AttemptRef attempt) {
    Run run = state().run(attempt.run());
    return run == null ? 0 : run.workflow().task(attempt.task()).timeout().toMillis();
  }

  /** Answers a read once what it saw is durable, or refuses it. */
  void answerWhenDurable(Runnable answer, Consumer<Refusal> refuse, long deadlineNanos) {
    leaderReads.add(answer, refuse, deadlineNanos);
  }

  // Deciding.

  @Override
  public void onDecided() {
    touched();
  }

  @Override
  public void onApplyFailed(String what) {
    end(new End(what, false));
  }

  @Override
  public void onEvent(Event event) {
    watchers.touch(event);
    if (event instanceof Event.AttemptEnded ended) {
      backstops.ended(ended.attempt());
      noteEnd(ended);
    } else if (event instanceof Event.AttemptAdopted) {
      loop.listener().onAdopted();
    } else if (event instanceof Event.HistoryDropped(long seq)) {
      pipeline.whenDurable(() -> sweeper.historyIsDropped(seq));
    }
  }

  private void noteEnd(Event.AttemptEnded ended) {
    Run run = state().run(ended.attempt().run());
    if (run == null) {
      return;
    }
    loop.listener()
        .onAttemptEnded(
            run.workflow().task(ended.attempt().task()).type(),
            ended.outcome(),
            ended.durationMs());
    if (run.status().isTerminal() && run.status() != RunStatus.SUCCESS) {
      LOG.atInfo()
          .addKeyValue("run", run.id())
          .log(
              "Run {} of {} ended {}: {}",
              run.id(),
              run.workflow().name(),
              run.status(),
              run.reason());
    }
  }

  @Override
  public void perform(Effect effect, long seq) {
    switch (effect) {
      case Effect.SendAck(var to, var name, var verdict) ->
          loop.sink().acknowledge(to, name, verdict);
      case Effect.SendCancel(var to, var name, var reason) -> loop.sink().cancel(to, name, reason);
      case Effect.SendAssign(var to, var attempt) -> assigns.send(to, attempt, seq);
      case Effect.SendDrain(var to) -> loop.sink().drain(to);
      case Effect.Reply(var call, var answer) -> calls.answer(call, answer, seq);
    }
    touched();
  }

  // Turns.

  /** Something has happened: what follows from it is done once, at the end of what is waiting. */
  void touched() {
    if (!turnScheduled && !over) {
      turnScheduled = true;
      loop.strand().execute(this::turn);
    }
  }

  private void turn() {
    if (over) {
      return;
    }
    decisions.decideDeferred();
    boolean again = admission.take();
    int assigned = 0;
    while (!decisions.areDeferred()
        && pipeline.hasRoom(Room.INTERNAL_BYTES, 0)
        && assigned < ASSIGNS_PER_TURN
        && decisions.now(new Command.AssignNext())) {
      assigned++;
    }
    again |= assigned == ASSIGNS_PER_TURN;
    retirement.step();
    pipeline.send();
    loop.sink().flush();
    // What was decided within this turn has been sent, or goes when there is room.
    turnScheduled = false;
    if (again) {
      touched();
    }
  }

  /** Sees to what has become due; called every 100 ms or so. */
  void tick() {
    long now = loop.now();
    timeOutRuns(now);
    for (AttemptRef attempt : backstops.poll()) {
      decisions.soon(new Command.TimeOutAttempt(attempt));
    }
    // A stream that is not read because we hold what came by it is not silent.
    results.holding().forEach(life -> fleet.heard(life, now));
    sweepWorkers(now);
    askInventories();
    dropUnusedSpecs(now);
    retirement.tick();
    leaderReads.expire();
    if (over) {
      return;
    }
    snapshots.tick();
    sweeper.tick();
    pipeline.touchIfIdle(TOUCH_AFTER);
    touched();
  }

  private void timeOutRuns(long now) {
    while (state().nextDeadline() <= now && pipeline.hasRoom(Room.INTERNAL_BYTES, 0)) {
      if (!decisions.now(new Command.TimeOutRun(state().nextDeadlineRun()))) {
        return;
      }
    }
  }

  private void sweepWorkers(long now) {
    for (WorkerLife life : state().workers().busy()) {
      if (fleet.standing(life, now) != Fleet.Standing.LOST) {
        continue;
      }
      String reason = "worker " + life.workerId() + whyLost(life);
      LOG.atInfo().log(
          "{}: {} attempts are given up and tried elsewhere",
          reason,
          state().workers().runningCount(life));
      deleteKey(life);
      while (state().workers().runningCount(life) > 0 && pipeline.hasRoom(Room.LOSS_BYTES, 0)) {
        if (!decisions.now(new Command.LoseWorker(life, reason))) {
          break;
        }
      }
    }
  }

  private String whyLost(WorkerLife life) {
    if (fleet.isProvenGone(life)) {
      return " is gone: its stream broke, and its port refuses connections";
    }
    return fleet.isRegistered(life)
        ? " was silent for " + Limits.LOST_AFTER.toSeconds() + " s"
        : " is gone";
  }

  /** A worker that is lost although its lease holds must not look alive. */
  private void deleteKey(WorkerLife life) {
    Fleet.Registration registration = fleet.registration(life.workerId());
    if (registration == null || !registration.life().equals(life)) {
      return;
    }
    ByteString key = loop.keys().worker(life.workerId());
    var unused =
        loop.reads()
            .txn(
                new Txn(
                    List.of(new Txn.Compare.CreateRevision(key, registration.createRevision())),
                    List.of(new Txn.Op.Delete(key)),
                    List.of()),
                Duration.ofSeconds(2));
  }

  private void askInventories() {
    long nanos = loop.strand().nanoTime();
    if (!opened || nanos < nextInventoryNanos) {
      return;
    }
    nextInventoryNanos = nanos + Limits.INVENTORY_EVERY.toNanos();
    fleet.connected().forEach(loop.sink()::askInventory);
  }

  private void dropUnusedSpecs(long now) {
    for (var spec : List.copyOf(state().specs())) {
      if (spec.uses() == 0
          && now - spec.lastUsed() > loop.settings().upkeep().specUnused().toMillis()
          && pipeline.hasRoom(Room.INTERNAL_BYTES, 0)) {
        decisions.now(new Command.DropSpec(spec.number()));
      }
    }
  }

  // The end of a run, seen by Retirement.

  /** Takes a run out of the state, with its record in the same entry. */
  boolean retire(Run run, HistoryRun record) {
    if (!pipeline.hasRoom(Room.INTERNAL_BYTES, record.getSerializedSize())) {
      return false;
    }
    if (decisions.now(new Command.Retire(run.number(), record.getParts()))) {
      pipeline.addHistory(record);
    }
    return true;
  }

  /** Makes a snapshot the one to load, with its manifest in the same entry. */
  boolean install(Command.InstallSnapshot command, ByteString manifest) {
    if (!pipeline.hasRoom(Room.of(command), manifest.size())) {
      return false;
    }
    boolean decided = decisions.now(command);
    if (decided) {
      pipeline.addPut(loop.keys().snapshot(), manifest);
    }
    return decided;
  }

  // The end of the term.

  @Override
  public void onRoom() {
    touched();
  }

  @Override
  public void onClosing(long seq) {
    if (watchers.areTouched()) {
      watchers.emit(view(seq), term, pipeline::whenDurable);
    }
  }

  @Override
  public void onClosed() {
    around.reads().reached(replica.seq());
    snapshots.onClosed(pipeline::whenInFlightIsDurable);
  }

  @Override
  public void onOver(String why, boolean fault) {
    end(new End(why, fault));
  }

  void end(End end) {
    if (!over) {
      close();
      whenOver.accept(end);
    }
  }

  /**
   * Drops all that is not durable; whoever waits for an answer hears that another node may have
   * one.
   */
  void close() {
    over = true;
    decisions.close();
    admission.close();
    assigns.close();
    results.close();
    retirement.close();
    snapshots.close();
    sweeper.close();
    pipeline.close();
    loop.sink().closeTerm();
    Refusal refusal =
        new Refusal(
            RefusalCode.NOT_READY,
            "This node has just stepped down: ask again, the outcome is with the next leader.");
    around.requests().refuseAll(refusal);
    leaderReads.refuseAll(refusal);
    calls.refuseAll(refusal);
  }
}
