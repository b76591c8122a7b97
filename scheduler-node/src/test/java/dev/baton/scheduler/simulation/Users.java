package dev.baton.scheduler.simulation;

import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.loop.Role;
import dev.baton.scheduler.loop.RunWatcher;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunStatus;
import dev.baton.scheduler.model.WorkerLife;
import dev.baton.scheduler.simulation.Coverage.Sight;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Users: submit runs, some with keys, repeat their calls, cancel at any moment, read, and watch.
 * What they hear is held against the journal at once.
 */
final class Users {
  private static final String NAME = "users";
  private static final int KEYS = 4;
  private static final Duration MOMENT = Duration.ofMillis(20);
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration OUT_OF_SERVICE = Duration.ofSeconds(8);
  private static final int LONG_PARAMS = 2_600;

  /** What a user of this world can be refused by. */
  private static final Map<RefusalCode, Sight> EXPECTED =
      Map.of(
          RefusalCode.KEY_CONFLICT, Sight.KEY_CONFLICT,
          RefusalCode.NOT_READY, Sight.REFUSED_NOT_READY,
          RefusalCode.STORE_FULL, Sight.REFUSED_STORE_FULL);

  private final Cluster cluster;
  private final List<Wish> wishes = new ArrayList<>();
  private int open;

  /** The process that is to end at last, and whether a leader has taken that order. */
  private @Nullable WorkerLife drained;

  private boolean isOrdered;

  /** A run that somebody wants. */
  private final class Wish {
    final Submission submission;
    final long sinceNanos = cluster.world().nanoTime();
    boolean over;
    RunId id;
    long seq;

    Wish(Submission submission) {
      this.submission = submission;
      this.id = submission.id();
    }

    boolean isOld() {
      return cluster.world().nanoTime() - sinceNanos > Plan.REPEAT_FOR.toNanos();
    }
  }

  Users(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Calls that nobody has answered for good. */
  int open() {
    return open;
  }

  /** Spreads so many submissions over a time, with what users do beside. */
  void begin(int runs, Duration time) {
    for (int i = 0; i < runs; i++) {
      cluster.network().after(anyMoment(time), this::submitNew);
      cluster.network().after(anyMoment(time), this::read);
    }
    for (int i = 0; i < runs / 8; i++) {
      cluster.network().after(anyMoment(time), this::cordon);
    }
    for (int i = 0; i < runs / 4; i++) {
      cluster.network().after(anyMoment(time), this::cancel);
      cluster.network().after(anyMoment(time), this::repeat);
    }
  }

  private Duration anyMoment(Duration time) {
    return Duration.ofNanos(cluster.random().nextLong(time.toNanos()));
  }

  private void submitNew() {
    Submission.Definition definition = cluster.flows().any(cluster.random());
    boolean hasKey = cluster.random().nextInt(3) == 0;
    String text =
        cluster.random().nextInt(10) == 0
            ? "y".repeat(LONG_PARAMS)
            : "p" + cluster.random().nextInt(2);
    String params = "{\"text\":\"" + text + "\"}";
    if (params.length() > LONG_PARAMS) {
      cluster.coverage().see(Sight.STORED_PARAMS);
    }
    submit(
        new Submission(
            newId(),
            definition,
            "default",
            Map.of("of", "users"),
            NAME,
            hasKey ? "key" + cluster.random().nextInt(KEYS) : "",
            params,
            31L * definition.hash().hashCode() + params.hashCode(),
            false));
  }

  private RunId newId() {
    return new RunId(
        cluster.trueMillis() << 16 | cluster.random().nextInt(1 << 16),
        cluster.random().nextLong());
  }

  /** With an id of its own. */
  private void submit(Submission wanted) {
    Wish wish =
        new Wish(
            new Submission(
                newId(),
                wanted.definition(),
                wanted.tenant(),
                wanted.labels(),
                wanted.actor(),
                wanted.key(),
                wanted.paramsJson(),
                wanted.bodyHash(),
                wanted.requireWorkers()));
    wishes.add(wish);
    open++;
    submit(wish);
  }

  /** Somebody who has been answered asks the same once more. */
  private void repeat() {
    if (wishes.isEmpty()) {
      return;
    }
    Wish wish = wishes.getLast();
    if (!wish.isOld()) {
      cluster.coverage().see(Sight.SUBMIT_REPEATED);
      ask(
          (life, answer) -> life.loop().submit(wish.submission, answer::accept),
          heard -> heard(wish, heard));
    }
  }

  private void submit(Wish wish) {
    boolean[] answered = new boolean[1];
    ask(
        (life, answer) -> life.loop().submit(wish.submission, answer::accept),
        heard -> {
          answered[0] = true;
          if (heard(wish, heard)) {
            close(wish);
          } else {
            again(wish, Duration.ofMillis(100 + cluster.random().nextInt(400)));
          }
        });
    cluster
        .network()
        .after(
            PATIENCE,
            () -> {
              if (!answered[0]) {
                answered[0] = true;
                again(wish, Duration.ZERO);
              }
            });
  }

  private void again(Wish wish, Duration pause) {
    if (wish.over) {
      return;
    }
    cluster
        .network()
        .after(
            pause,
            () -> {
              if (!wish.isOld()) {
                submit(wish);
              } else {
                // Nobody knows what became of it; they want it as much as before.
                close(wish);
                submit(wish.submission);
              }
            });
  }

  private void close(Wish wish) {
    if (!wish.over) {
      wish.over = true;
      open--;
    }
  }

  /** False: to be asked again. */
  private boolean heard(Wish wish, Heard heard) {
    return switch (heard.answer()) {
      case Answer.Submitted(RunId id, boolean existing, var warnings) -> {
        cluster.coverage().see(Sight.SUBMITTED);
        if (!id.equals(wish.submission.id())) {
          cluster.coverage().see(Sight.KEY_REPEATED);
        }
        checkAcknowledged(id, heard.seq());
        wish.id = id;
        wish.seq = heard.seq();
        if (cluster.random().nextInt(3) == 0) {
          watch(wish);
        }
        yield true;
      }
      case Answer.SubmittedBefore before -> {
        cluster.coverage().see(Sight.KEY_OF_THE_PAST);
        cluster
            .judge()
            .check(
                Invariant.ACKNOWLEDGED,
                before.historySeq() <= cluster.observer().seq(),
                "A user is told of entry %d, which is not there",
                before.historySeq());
        yield true;
      }
      case Answer.Refused(var refusal) -> refused(refusal.code());
      case Answer.CancelRecorded recorded -> throw unexpected(recorded);
      case Answer.ServiceRecorded recorded -> throw unexpected(recorded);
    };
  }

  private Invariant.Violation unexpected(Answer answer) {
    return cluster.judge().violated(Invariant.FAULTLESS, "A submission is answered by %s", answer);
  }

  /** False: to be asked again. */
  private boolean refused(RefusalCode code) {
    cluster
        .judge()
        .check(Invariant.FAULTLESS, EXPECTED.containsKey(code), "A user is refused by %s", code);
    Sight sight = EXPECTED.get(code);
    if (sight != null) {
      cluster.coverage().see(sight);
    }
    return code == RefusalCode.KEY_CONFLICT;
  }

  private void checkAcknowledged(RunId id, long seq) {
    TaskBook.Run run = cluster.observer().book().run(id);
    cluster
        .judge()
        .check(
            Invariant.ACKNOWLEDGED,
            run != null && seq <= cluster.observer().seq(),
            "Run %s is acknowledged at entry %d, but the journal of %d entries lacks it",
            id,
            seq,
            cluster.observer().seq());
  }

  private void cancel() {
    if (wishes.isEmpty()) {
      return;
    }
    int newest = Math.max(0, wishes.size() - 6);
    Wish wish = wishes.get(newest + cluster.random().nextInt(wishes.size() - newest));
    ask(
        (life, answer) -> life.loop().cancel(wish.id, NAME, "changed their mind", answer::accept),
        heard -> {
          if (heard.answer() instanceof Answer.CancelRecorded(RunStatus status)) {
            cluster.coverage().see(Sight.CANCEL_RECORDED);
            TaskBook.Run run = cluster.observer().book().run(wish.id);
            cluster
                .judge()
                .check(
                    Invariant.ACKNOWLEDGED,
                    run != null && (run.stopping != null || run.hasEnded()),
                    "The cancel of run %s is acknowledged, and the journal lacks it",
                    wish.id);
          }
        });
  }

  // Operators.

  /** A worker goes out of service; at times its process is to end, too. */
  private void cordon() {
    SimulatedWorker worker = anyWorker();
    boolean drain = cluster.random().nextBoolean();
    ask(
        (life, answer) -> life.loop().cordon(worker.id(), drain, "", NAME, answer::accept),
        heard -> checkService(worker, heard, true));
    cluster.network().after(anyMoment(OUT_OF_SERVICE), () -> uncordon(worker));
  }

  private void uncordon(SimulatedWorker worker) {
    if (isStillThere(worker)) {
      return;
    }
    ask(
        (life, answer) -> life.loop().uncordon(worker.id(), answer::accept),
        heard -> checkService(worker, heard, false));
  }

  /** Until all are in service, but for one that is to end first. */
  void uncordonAll() {
    cluster.workers().stream()
        .filter(worker -> cluster.observer().book().isCordoned(worker.id()))
        .forEach(this::uncordon);
    cluster.network().after(PATIENCE, this::uncordonAll);
  }

  /**
   * The process of a worker is to end, whatever becomes of the leader that takes the order.
   *
   * @param restarting at times that leader is restarted
   */
  void drainOne(boolean restarting) {
    SimulatedWorker worker = anyWorker();
    SimulatedWorker.Life life = worker.life();
    if (life != null) {
      drained = life.name();
      askToEnd(worker, life.name(), restarting);
    }
  }

  private void askToEnd(SimulatedWorker worker, WorkerLife process, boolean restarting) {
    isOrdered = false;
    ask(
        (life, answer) ->
            life.loop().cordon(worker.id(), true, process.incarnation(), NAME, answer::accept),
        heard -> {
          checkService(worker, heard, true);
          isOrdered = heard.answer() instanceof Answer.ServiceRecorded;
          if (isOrdered && restarting && cluster.random().nextBoolean()) {
            restartLeaders();
          }
        });
    cluster.network().after(PATIENCE, () -> insist(worker, process, restarting));
  }

  /** An answer can be lost, and an order of before, still on its way, can undo this one. */
  private void insist(SimulatedWorker worker, WorkerLife process, boolean restarting) {
    if (!isStillThere(worker)) {
      return;
    }
    if (isOrdered && cluster.observer().book().isCordoned(worker.id())) {
      cluster.network().after(PATIENCE, () -> insist(worker, process, restarting));
    } else {
      askToEnd(worker, process, restarting);
    }
  }

  private void restartLeaders() {
    for (SimulatedNode node : cluster.nodes()) {
      SimulatedNode.Life life = node.life();
      if (life != null && life.watch().isLeading()) {
        node.crash(false);
        cluster.network().after(MOMENT, node::start);
      }
    }
  }

  /** Who was told to end has. */
  boolean hasDrainedOne() {
    return cluster.workers().stream().noneMatch(this::isStillThere);
  }

  private boolean isStillThere(SimulatedWorker worker) {
    SimulatedWorker.Life life = worker.life();
    return life != null && life.name().equals(drained);
  }

  /** An order of somebody else may have come since. */
  private void checkService(SimulatedWorker worker, Heard heard, boolean cordoned) {
    if (heard.answer() instanceof Answer.ServiceRecorded) {
      cluster
          .judge()
          .check(
              Invariant.ACKNOWLEDGED,
              heard.seq() <= cluster.observer().seq(),
              "That %s is %s is acknowledged at entry %d, but the journal has %d",
              worker.id(),
              cordoned ? "cordoned" : "in service",
              heard.seq(),
              cluster.observer().seq());
    }
  }

  private SimulatedWorker anyWorker() {
    return cluster.workers().get(cluster.random().nextInt(cluster.workers().size()));
  }

  // Reads.

  /** What a read finds. */
  private record Found(
      @Nullable RunStatus status, boolean retained, long seq, long term, Role role) {}

  private void read() {
    read(anyNode());
  }

  /** Some read at this node within the next moments. */
  void readAt(SimulatedNode node, int reads) {
    for (int i = 0; i < reads; i++) {
      cluster.network().after(anyMoment(MOMENT), () -> read(node.life()));
    }
  }

  private void read(SimulatedNode.@Nullable Life life) {
    if (wishes.isEmpty() || life == null || !life.hasLoop()) {
      return;
    }
    Wish wish = wishes.get(cluster.random().nextInt(wishes.size()));
    String node = life.process().name();
    // A wish may learn later that its key belongs to another run.
    RunId id = wish.id;
    long asked = cluster.observer().seq();
    long least = wish.seq;
    cluster
        .network()
        .datagram(
            NAME,
            node,
            () ->
                life.transport()
                    .execute(() ->
                        life.loop()
                            .read(
                                least,
                                PATIENCE,
                                view -> find(view, id),
                                (found, refusal) -> {
                                  if (found != null) {
                                    cluster
                                        .network()
                                        .datagram(
                                            node,
                                            NAME,
                                            () -> judge(node, id, found, new Asked(least, asked)));
                                  }
                                })));
  }

  /**
   * What was known when a read was asked.
   *
   * @param least the entry that it waits for
   * @param there the last one of the journal
   */
  private record Asked(long least, long there) {}

  private static Found find(ReadView view, RunId id) {
    Run run = view.state().run(id);
    return new Found(
        run == null ? null : run.status(),
        view.state().retained().find(id) != null,
        view.seq(),
        view.state().term(),
        view.role());
  }

  private void judge(String node, RunId id, Found found, Asked asked) {
    cluster.coverage().see(Sight.READ);
    TaskBook.Run run = cluster.observer().book().run(id);
    Judge judge = cluster.judge();
    judge.check(
        Invariant.ACKNOWLEDGED,
        found.seq() <= cluster.observer().seq(),
        "%s answers a read at entry %d, but the journal has %d",
        node,
        found.seq(),
        cluster.observer().seq());
    judge.check(
        Invariant.ACKNOWLEDGED,
        found.seq() == 0 || cluster.observer().termOf(found.seq()) == found.term(),
        "%s answers a read at entry %d of term %d, but that entry is of term %d",
        node,
        found.seq(),
        found.term(),
        cluster.observer().termOf(found.seq()));
    judge.check(
        Invariant.ACKNOWLEDGED,
        found.role() != Role.LEADING || found.seq() >= asked.there(),
        "%s answers a read as the leader at entry %d, but entry %d was there when it was asked",
        node,
        found.seq(),
        asked.there());
    if (found.status() == null) {
      boolean mayMiss =
          run == null
              || run.createdSeq >= found.seq()
              || (run.retiredSeq > 0
                  && (found.retained()
                      || run.retiredSeq <= cluster.observer().book().droppedHistory()));
      judge.check(
          Invariant.ACKNOWLEDGED,
          mayMiss && found.seq() >= asked.least(),
          "%s does not find run %s at entry %d, which was acknowledged at entry %d",
          node,
          id,
          found.seq(),
          asked.least());
      return;
    }
    judge.check(
        Invariant.ACKNOWLEDGED, run != null, "%s shows run %s, which is not there", node, id);
    if (run != null && found.status().isTerminal()) {
      judge.check(
          Invariant.TERMINAL,
          run.status == found.status() && run.endedSeq <= found.seq(),
          "%s shows run %s as %s at entry %d, but it is %s since entry %d",
          node,
          id,
          found.status(),
          found.seq(),
          run.status,
          run.endedSeq);
    }
  }

  private void watch(Wish wish) {
    SimulatedNode.Life life = anyNode();
    if (life != null) {
      life.transport()
          .execute(() ->
              life.loop()
                  .watch(
                      wish.id,
                      wish.seq,
                      PATIENCE,
                      new Watcher(life.process().name()),
                      refusal -> {}));
    }
  }

  /** Hears of changes that are durable, or it is a violation. */
  private final class Watcher implements RunWatcher {
    private final String node;
    private final Set<RunId> ended = new HashSet<>();

    Watcher(String node) {
      this.node = node;
    }

    @Override
    public Runnable changed(Run run, ReadView view, long term, String leaderNodeId) {
      long seq = view.seq();
      RunStatus status = run.status();
      RunId id = run.id();
      return () -> {
        cluster.coverage().see(Sight.WATCHED);
        cluster
            .judge()
            .check(
                Invariant.ACKNOWLEDGED,
                seq <= cluster.observer().seq(),
                "%s tells a watcher of entry %d, but the journal has %d",
                node,
                seq,
                cluster.observer().seq());
        cluster
            .judge()
            .check(
                Invariant.TERMINAL,
                !ended.contains(id) || status.isTerminal(),
                "%s tells a watcher that run %s is %s after its end",
                node,
                id,
                status);
        if (status.isTerminal()) {
          ended.add(id);
        }
      };
    }

    @Override
    public boolean isOver() {
      return false;
    }

    @Override
    public void gone() {}
  }

  // Calls.

  /** An answer that has come back. */
  private record Heard(Answer answer, long seq) {}

  private interface Call {
    void make(SimulatedNode.Life life, java.util.function.BiConsumer<Answer, Long> answer);
  }

  /** Asks some node; one that knows who leads hands it on. */
  private void ask(Call call, Consumer<Heard> then) {
    SimulatedNode.Life life = anyNode();
    if (life != null) {
      ask(life, call, then, NAME);
    }
  }

  private void ask(SimulatedNode.Life life, Call call, Consumer<Heard> then, String from) {
    String node = life.process().name();
    cluster
        .network()
        .datagram(
            from,
            node,
            () ->
                life.transport()
                    .execute(() -> {
                      var leader = life.loop().leader().leader();
                      if (leader != null && !leader.getNodeId().equals(node) && from.equals(NAME)) {
                        SimulatedNode.Life there = cluster.node(leader.getNodeId()).life();
                        if (there != null && there.hasLoop()) {
                          ask(there, call, then, node);
                        }
                        return;
                      }
                      call.make(
                          life,
                          (answer, seq) ->
                              cluster
                                  .network()
                                  .datagram(node, NAME, () -> then.accept(new Heard(answer, seq))));
                    }));
  }

  private SimulatedNode.@Nullable Life anyNode() {
    List<SimulatedNode.Life> lives = new ArrayList<>();
    for (SimulatedNode node : cluster.nodes()) {
      SimulatedNode.Life life = node.life();
      if (life != null && life.hasLoop()) {
        lives.add(life);
      }
    }
    return lives.isEmpty() ? null : lives.get(cluster.random().nextInt(lives.size()));
  }
}
