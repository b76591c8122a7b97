package dev.baton.scheduler.api;

import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.WatchRunResponse;
import dev.baton.scheduler.engine.Attempt;
import dev.baton.scheduler.engine.TaskState;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.loop.RunWatcher;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.TaskStatus;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One user who follows one run. The first response has all tasks, the next ones those that changed.
 * A user who does not read falls behind only so far; then the stream ends, and the client opens
 * another.
 */
final class WatchStream implements RunWatcher {
  private static final int WAITING = 1_000;
  private static final long WAITING_BYTES = 8L << 20;

  private final ServerCallStreamObserver<WatchRunResponse> wire;
  private final List<TaskStatus> statuses = new ArrayList<>();
  private final List<@Nullable Attempt> lastAttempts = new ArrayList<>();

  private final Deque<WatchRunResponse> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private boolean last;
  private boolean ended;

  WatchStream(ServerCallStreamObserver<WatchRunResponse> wire) {
    this.wire = wire;
  }

  @Override
  public Runnable changed(
      dev.baton.scheduler.engine.Run run, ReadView view, long term, String leaderNodeId) {
    RunViews.Around around = RunViews.Around.of(view);
    List<dev.baton.proto.v1.Task> changed = new ArrayList<>();
    for (int i = 0; i < run.size(); i++) {
      if (hasChanged(i, run.task(i))) {
        changed.add(RunViews.task(run, i, around));
      }
    }
    Run summary = RunViews.summary(run).build();
    WatchRunResponse response =
        WatchRunResponse.newBuilder()
            .setRun(summary)
            .addAllTasks(changed)
            .setSeq(view.seq())
            .setTerm(term)
            .setLeaderNodeId(leaderNodeId)
            .build();
    boolean terminal = run.status().isTerminal();
    return () -> send(response, terminal);
  }

  /** The first time everything is new. */
  private boolean hasChanged(int index, TaskState task) {
    Attempt last = task.lastAttempt();
    if (index == statuses.size()) {
      statuses.add(task.status());
      lastAttempts.add(last);
      return true;
    }
    boolean same =
        statuses.get(index) == task.status() && Objects.equals(lastAttempts.get(index), last);
    statuses.set(index, task.status());
    lastAttempts.set(index, last);
    return !same;
  }

  @Override
  public synchronized boolean isOver() {
    return ended;
  }

  @Override
  public void gone() {
    end(
        Refusals.exception(
            new Refusal(
                RefusalCode.NOT_READY,
                "This node cannot follow the run any more: ask another one.")));
  }

  synchronized void send(WatchRunResponse response, boolean isLast) {
    if (ended) {
      return;
    }
    waiting.addLast(response);
    waitingBytes += response.getSerializedSize();
    last |= isLast;
    drain();
    if (waiting.size() > WAITING || (waiting.size() > 1 && waitingBytes > WAITING_BYTES)) {
      end(
          Refusals.exception(
              new Refusal(RefusalCode.NOT_READY, "The watch is not read: open it again.")));
    }
  }

  synchronized void drain() {
    while (!ended && !waiting.isEmpty() && wire.isReady()) {
      WatchRunResponse next = waiting.removeFirst();
      waitingBytes -= next.getSerializedSize();
      wire.onNext(next);
    }
    if (!ended && last && waiting.isEmpty()) {
      ended = true;
      wire.onCompleted();
    }
  }

  synchronized void end(Throwable status) {
    if (!ended) {
      ended = true;
      waiting.clear();
      wire.onError(status);
    }
  }

  /** The user has gone. */
  synchronized void cancelled() {
    ended = true;
    waiting.clear();
  }
}
