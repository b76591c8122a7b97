package dev.baton.scheduler.loop;

import dev.baton.coordination.Leadership;
import dev.baton.coordination.Registry;
import dev.baton.proto.journal.v1.SnapshotManifest;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.scheduler.engine.Effect;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.engine.Waits;
import dev.baton.scheduler.journal.Entry;
import dev.baton.scheduler.journal.JournalTail;
import dev.baton.scheduler.journal.Replica;
import dev.baton.scheduler.journal.SnapshotWriter;
import dev.baton.scheduler.journal.StateLoader;
import dev.baton.scheduler.journal.UnknownEventException;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * A scheduler node's loop in its roles: it loads, follows, takes over, leads, and begins again when
 * a term ends. The public methods may be called from any thread; everything else runs on the
 * strand.
 */
public final class SchedulerLoop
    implements Leadership.Listener, JournalTail.Listener, Loading.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerLoop.class);
  private static final Duration TICK = Duration.ofMillis(100);
  private static final Duration LEADERLESS = Duration.ofSeconds(2);
  private static final Duration IN_TOUCH = Duration.ofSeconds(1);
  private static final int MAX_FAULTS = 2;
  private static final int TICKS_PER_COUNT = 10;

  private final Loop loop;
  private final Outside outside;
  private final Fleet fleet = new Fleet();
  private final Watchers watchers = new Watchers();
  private final Requests requests = new Requests();
  private final ReadSide readSide;
  private final Roster roster;
  private final WorkerDeaths deaths;
  private final Loading loading;
  private final LeaderSight sight;
  private final OpenPath openPath;
  private final Registry workers;

  private @Nullable Leadership leadership;
  private Role role = Role.LOADING;
  private @Nullable Replica replica;
  private @Nullable JournalTail tail;
  private @Nullable Leading leading;
  private boolean eligible;
  private long takeOverNanos;
  private int faults;
  private boolean closed;
  private long ticks;
  private Map<Waits.Kind, Integer> waiting = Map.of();
  private volatile NodeStatus status =
      new NodeStatus(Role.LOADING, 0, 0, Duration.ZERO, Duration.ZERO, NodeStatus.Load.NONE);

  /**
   * What the node around the loop knows.
   *
   * @param standbys addresses of the other nodes that follow
   * @param ports of workers
   * @param storeIsFull etcd is nearly out of space
   * @param loaded told whether this node's state is complete
   * @param leads told whether this node leads
   * @param fatal the loop cannot go on: the process must end
   */
  public record Outside(
      Supplier<List<String>> standbys,
      WorkerPorts ports,
      BooleanSupplier storeIsFull,
      Consumer<Boolean> loaded,
      Consumer<Boolean> leads,
      Consumer<String> fatal) {}

  public SchedulerLoop(Loop loop, Outside outside) {
    this.loop = loop;
    this.outside = outside;
    this.loading = new Loading(loop, this);
    this.sight = new LeaderSight(loop);
    this.openPath = new OpenPath(loop);
    this.workers = new Registry(loop.reads(), loop.strand(), loop.keys().workers(), loop.random());
    this.roster =
        new Roster(loop.keys().workers(), fleet, this::onRegistered, this::onUnregistered);
    this.deaths = new WorkerDeaths(loop.strand(), fleet, outside.ports());
    this.readSide = new ReadSide(loop, this::view, () -> leading, watchers);
  }

  // Starting and ending.

  /** Begins to load; campaigns by {@code leadership}, whose listener this loop is, once it has. */
  public void start(Leadership leadership) {
    loop.strand()
        .execute(() -> {
          this.leadership = leadership;
          sight.start(leadership, () -> tail == null ? 0 : tail.headRevision());
          workers.add(roster);
          workers.start();
          leadership.start();
          load();
          tick();
        });
  }

  /** Ends what it does; a leader should have resigned before. */
  public CompletableFuture<Void> close() {
    return CompletableFuture.runAsync(
        () -> {
          closed = true;
          leave();
          loading.close();
          sight.close();
          workers.close();
          become(Role.STOPPED, 0);
        },
        loop.strand());
  }

  /** Gives leadership back; done once another may lead. */
  public CompletableFuture<Void> resign() {
    return onStrand(() -> {
      closed = true;
      leave();
      loading.close();
      sight.close();
      become(Role.STOPPED, 0);
      Leadership held = leadership;
      return held == null ? CompletableFuture.completedFuture(null) : held.resign();
    });
  }

  private <T> CompletableFuture<T> onStrand(Supplier<CompletableFuture<T>> step) {
    return CompletableFuture.completedFuture(step).thenComposeAsync(Supplier::get, loop.strand());
  }

  // What users ask, from any thread.

  public LeaderView leader() {
    return sight.view();
  }

  public NodeStatus status() {
    return status;
  }

  public void submit(Submission submission, Caller answer) {
    request(new Requests.Request.Submit(submission, answer));
  }

  public void cancel(RunId run, String actor, String reason, Caller answer) {
    request(new Requests.Request.Cancel(run, actor, reason, answer));
  }

  /**
   * Gives a worker nothing new.
   *
   * @param drain its process is to end, too
   * @param incarnation the process that is meant; empty: the one that is registered
   */
  public void cordon(
      String workerId, boolean drain, String incarnation, String actor, Caller answer) {
    request(new Requests.Request.Cordon(workerId, drain, incarnation, actor, answer));
  }

  /** Takes a worker into service again. */
  public void uncordon(String workerId, Caller answer) {
    request(new Requests.Request.Uncordon(workerId, answer));
  }

  private void request(Requests.Request request) {
    Refusal full = requests.enter();
    if (full != null) {
      request.answer().hear(new Effect.Answer.Refused(full), 0);
      return;
    }
    loop.strand()
        .execute(() -> {
          requests.add(request);
          if (leading == null) {
            requests.refuseAll(notLeading());
          } else {
            leading.touched();
          }
        });
  }

  private static Refusal notLeading() {
    return new Refusal(RefusalCode.NOT_READY, "This node does not lead: ask the leader.");
  }

  /**
   * Reads the durable state.
   *
   * @param minSeq wait until the state has come to this entry
   * @param timeout wait so long at most
   * @param query runs on the loop's thread; must be quick, and keep nothing of the view
   */
  public <T> void read(
      long minSeq, Duration timeout, Function<ReadView, T> query, ReadAnswer<T> answer) {
    loop.strand().execute(() -> readSide.read(minSeq, timeout, query, answer));
  }

  /**
   * Follows a live run: the watcher is told how it is, and then of each change.
   *
   * @param missing called instead if no live run has this id
   */
  public void watch(
      RunId id,
      long minSeq,
      Duration timeout,
      RunWatcher watcher,
      Consumer<@Nullable Refusal> missing) {
    loop.strand().execute(() -> readSide.watch(id, minSeq, timeout, watcher, missing));
  }

  /** The watcher is told nothing more. */
  public void unwatch(RunId id, RunWatcher watcher) {
    loop.strand().execute(() -> readSide.unwatch(id, watcher));
  }

  /** What a read sees now; null: nothing is loaded. */
  private @Nullable ReadView view() {
    Replica current = replica;
    Leading term = leading;
    if (current == null) {
      return null;
    }
    return term != null
        ? term.view(term.pipeline().visibleSeq())
        : new ReadView(
            current.state(),
            fleet,
            current.seq(),
            role,
            loop.now(),
            silence(),
            watchers.progress());
  }

  // What workers say, from any thread.

  public void onStreamOpened(WorkerLife life) {
    loop.strand()
        .execute(() -> {
          fleet.streamOpened(life, loop.now());
          if (leading != null) {
            leading.onStreamOpened(life);
          }
        });
  }

  public void onStreamClosed(WorkerLife life) {
    loop.strand()
        .execute(() -> {
          fleet.streamClosed(life, loop.now());
          deaths.onStreamClosed(life);
          if (leading != null) {
            leading.touched();
          }
        });
  }

  /** A life is heard of: a pong, or anything else. */
  public void onHeard(WorkerLife life) {
    loop.strand().execute(() -> fleet.heard(life, loop.now()));
  }

  /**
   * Unlike the others to be called on the strand, while the stream that it came by is the newest of
   * its life: an inventory that is late would be taken for the truth. {@code taken} runs once
   * nothing of the report is held in memory any more.
   */
  public void onReport(WorkerLife from, WorkerReport report, Runnable taken) {
    fleet.heard(from, loop.now());
    hear(from, report, taken);
  }

  private void hear(WorkerLife from, WorkerReport report, Runnable taken) {
    if (leading == null) {
      taken.run();
      return;
    }
    try {
      leading.onReport(from, report, taken);
    } catch (RuntimeException e) {
      // Whatever it was, it is dropped: the worker says it again, and must not end every term.
      LOG.error("Taking a report of worker {} failed", from.workerId(), e);
      loop.listener().onFault("taking a report");
      taken.run();
    }
  }

  /**
   * An assignment that had to wait for its stream can leave now; to be called on the strand.
   *
   * @return false: its attempt is not to be started there any more, and it must not leave
   */
  public boolean leavesLate(WorkerLife to, AttemptName name) {
    return leading != null && leading.leavesLate(to, name);
  }

  /** Another node asks whether this one lives: {@code pong} says so, on the loop's thread. */
  public void onPing(Runnable pong) {
    loop.strand().execute(pong);
  }

  /** Another node leads and wants a snapshot; fails unless this one follows. */
  public CompletableFuture<SnapshotManifest> takeSnapshot() {
    return onStrand(() -> {
      Replica current = replica;
      if (current == null || role != Role.STANDBY || current.seq() == 0) {
        throw new IllegalStateException("Expected a standby, but this node is " + role);
      }
      SnapshotWriter writer = new SnapshotWriter(loop.reads(), loop.keys(), loop.strand());
      String attempt = Long.toHexString(loop.random().nextLong());
      return writer.write(SnapshotWriter.take(current, attempt));
    });
  }

  private void onRegistered(WorkerLife life) {
    if (leading != null) {
      leading.onRegistered(life);
    }
  }

  private void onUnregistered() {
    if (leading != null) {
      leading.touched();
    }
  }

  // Loading and following.

  private void load() {
    if (closed) {
      return;
    }
    become(Role.LOADING, 0);
    outside.loaded().accept(false);
    loading.begin();
  }

  @Override
  public void onLoadFailed() {
    loadLater();
  }

  private void loadLater() {
    become(Role.LOADING, 0);
    loading.later(this::load);
  }

  @Override
  public void onLoaded(StateLoader.Loaded loaded) {
    long nano = loop.strand().nanoTime();
    loop.clock().assume(loaded.headTime(), loop.strand().wallMillis(), nano);
    Replica fresh = loaded.replica();
    replica = fresh;
    tail = new JournalTail(loop.reads(), loop.keys(), loop.strand(), fresh, loop.clock(), this);
    tail.start(loaded.revision());
    become(Role.STANDBY, fresh.term());
    outside.loaded().accept(true);
    readSide.waiting().reached(fresh.seq());
    decideEligibility();
  }

  @Override
  public void onApplied(Entry entry) {
    Replica current = replica;
    if (current == null) {
      return;
    }
    entry.events().forEach(stamped -> watchers.touch(stamped.event()));
    ReadView now = view();
    if (watchers.areTouched() && now != null) {
      watchers.emit(now, entry.term(), Runnable::run);
    }
    readSide.waiting().reached(current.seq());
  }

  @Override
  public void onLost(String reason) {
    loop.strand().execute(() -> lost(reason));
  }

  private void lost(String reason) {
    if (role == Role.LEADING || role == Role.TAKING_OVER) {
      LOG.info("This node leads no more: {}", reason);
      leave();
      load();
    }
  }

  @Override
  public void onTailLost(String reason) {
    LOG.info("This node cannot follow any more ({}) and loads the state again", reason);
    leave();
    giveBack();
    load();
  }

  @Override
  public void onTailFault(String what, RuntimeException cause) {
    LOG.error("Following the journal failed ({}); the state is loaded again", what, cause);
    loop.listener().onFault(what);
    leave();
    giveBack();
    loadLater();
  }

  /**
   * A task of the strand threw, so what it was about may be half done: all that is in memory is
   * dropped, and read again. For the strand's fault handler.
   */
  public void onStrandFault(Throwable fault) {
    LOG.error("A task of the loop failed; the state is loaded again", fault);
    if (closed) {
      return;
    }
    leave();
    giveBack();
    if (fault instanceof VirtualMachineError) {
      stop("the Java machine failed: " + fault);
    } else if (!isLastFault("a task of the loop failed: " + fault)) {
      loadLater();
    }
  }

  /** True: it was one too many, and the process is to end. */
  private boolean isLastFault(String what) {
    loop.listener().onFault(what);
    faults++;
    if (faults >= MAX_FAULTS) {
      stop("a second fault: " + what);
    }
    return closed;
  }

  @Override
  public void onUnknownEvent(UnknownEventException cause) {
    stop(cause.getMessage());
  }

  /** It can neither follow nor lead: the operator must act. */
  private void stop(@Nullable String why) {
    leave();
    giveBack();
    become(Role.STOPPED, 0);
    closed = true;
    loading.close();
    outside.fatal().accept(why == null ? "the journal is not readable" : why);
  }

  /** Drops all state and everybody who waits for it. */
  private void leave() {
    if (leading != null) {
      leading.close();
      leading = null;
    }
    if (tail != null) {
      tail.close();
      tail = null;
    }
    replica = null;
    readSide.close();
    eligible(false);
    sight.leadsNoMore();
  }

  // Taking over and leading.

  @Override
  public void onLeader(@Nullable LeaderRecord leader, long term) {
    loop.strand()
        .execute(() -> {
          sight.sees(leader, term, leading != null && leading.term() == term);
          logWith(term);
          if (role == Role.STANDBY && leader != null && sight.isAnother(leader)) {
            LOG.info("Node {} leads in term {}", leader.getNodeId(), term);
          }
          sight.watch(role == Role.STANDBY);
        });
  }

  @Override
  public void onWon(long term, long headRevision) {
    loop.strand().execute(() -> takeOver(term, headRevision));
  }

  /** Lines of the loop carry the newest term that it knows of. */
  private static void logWith(long term) {
    MDC.put("term", Long.toString(term));
  }

  private void takeOver(long term, long headRevision) {
    logWith(term);
    JournalTail following = tail;
    if (closed || following == null || role != Role.STANDBY) {
      giveBack();
      return;
    }
    takeOverNanos = loop.strand().nanoTime();
    int keysBefore = following.keysRead();
    become(Role.TAKING_OVER, term);
    following.finish(
        headRevision,
        () -> {
          if (!closed && tail == following && role == Role.TAKING_OVER) {
            lead(term, following, following.keysRead() - keysBefore);
          }
        });
  }

  private void lead(long term, JournalTail following, int keysRead) {
    Replica current = replica;
    Leadership held = leadership;
    if (current == null || held == null) {
      return;
    }
    Leading next =
        new Leading(
            loop,
            current,
            term,
            following.headRevision(),
            held::deadlineNanos,
            new Leading.Surroundings(
                fleet,
                watchers,
                requests,
                readSide.waiting(),
                outside.standbys(),
                outside.storeIsFull()),
            this::onTermOver);
    leading = next;
    tail = null;
    sight.leads(term);
    become(Role.LEADING, term);
    next.open();
    workers.refresh();
    if (leading != next) {
      return;
    }
    next.pipeline()
        .whenDurable(() -> {
          held.tookOver();
          Duration took = Duration.ofNanos(loop.strand().nanoTime() - takeOverNanos);
          loop.listener().onTakeOver(keysRead, took);
          LOG.info(
              "Took over as leader of term {} at entry {} in {} ms, reading {} keys: {} live runs, {} attempts running",
              term,
              next.pipeline().durableSeq(),
              took.toMillis(),
              keysRead,
              current.state().runs().size(),
              current.state().workers().busy().stream()
                  .mapToInt(current.state().workers()::runningCount)
                  .sum());
        });
  }

  private void onTermOver(Leading.End end) {
    LOG.info("The term ends: {}", end.why());
    leading = null;
    leave();
    giveBack();
    if (!end.fault() || !isLastFault(end.why())) {
      load();
    }
  }

  private void giveBack() {
    Leadership held = leadership;
    eligible = false;
    if (held != null) {
      var unused = held.resign();
    }
  }

  // Time.

  private void tick() {
    if (closed) {
      return;
    }
    loop.strand().schedule(TICK, this::tick);
    Leadership held = leadership;
    if (held != null) {
      held.tick();
    }
    readSide.waiting().expire(loop.strand().nanoTime());
    if (leading != null) {
      leading.tick();
    }
    if (replica != null) {
      fleet.forgetGone(replica.state().workers());
    }
    deaths.tick();
    decideEligibility();
    sight.watch(role == Role.STANDBY);
    if (role == Role.STANDBY) {
      openPath.tick();
    }
    countWaiting();
    publish();
  }

  /** Looks at every run, so not at each tick. */
  private void countWaiting() {
    ticks++;
    if (replica == null) {
      waiting = Map.of();
    } else if (ticks % TICKS_PER_COUNT == 0) {
      waiting = new Waits(replica.state(), fleet, loop.now()).counts();
    }
  }

  private void decideEligibility() {
    if (role == Role.TAKING_OVER || role == Role.LEADING) {
      return;
    }
    JournalTail following = tail;
    boolean inTouch = following != null && following.lag().compareTo(IN_TOUCH) < 0;
    eligible(role == Role.STANDBY && (inTouch || sight.isMissing(LEADERLESS)));
  }

  private void eligible(boolean now) {
    Leadership held = leadership;
    if (now != eligible && held != null) {
      eligible = now;
      held.eligible(now);
    }
  }

  private void become(Role next, long term) {
    if (role != next) {
      if (role == Role.LEADING || next == Role.LEADING) {
        outside.leads().accept(next == Role.LEADING);
      }
      role = next;
      loop.listener().onRole(next, term);
    }
    publish();
  }

  private void publish() {
    Replica current = replica;
    JournalTail following = tail;
    status =
        new NodeStatus(
            role,
            current == null ? 0 : current.term(),
            current == null ? 0 : current.seq(),
            following == null ? Duration.ZERO : following.lag(),
            silence(),
            current == null
                ? NodeStatus.Load.NONE
                : NodeStatus.Load.of(current.state(), fleet, leading != null, waiting, loop.now()));
  }

  private Duration silence() {
    JournalTail following = tail;
    return following == null ? Duration.ZERO : following.silence();
  }
}
