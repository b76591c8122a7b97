package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and watches, whatever the node's role: from the durable state of a follower at once, from
 * the leader's once it is durable. Runs on the loop's strand.
 */
final class ReadSide {
  private static final Logger LOG = LoggerFactory.getLogger(ReadSide.class);

  private final Loop loop;
  private final Supplier<@Nullable ReadView> view;
  private final Supplier<@Nullable Leading> leading;
  private final Watchers watchers;
  private final Reads waiting = new Reads();

  /**
   * @param view what a read sees now; null: nothing is loaded
   * @param leading the term of this node; null: it does not lead
   */
  ReadSide(
      Loop loop,
      Supplier<@Nullable ReadView> view,
      Supplier<@Nullable Leading> leading,
      Watchers watchers) {
    this.loop = loop;
    this.view = view;
    this.leading = leading;
    this.watchers = watchers;
  }

  /** Reads that wait for an entry. */
  Reads waiting() {
    return waiting;
  }

  static Refusal notReady() {
    return new Refusal(RefusalCode.NOT_READY, "This node is loading: ask another one.");
  }

  <T> void read(long minSeq, Duration timeout, Function<ReadView, T> query, ReadAnswer<T> answer) {
    long deadline = loop.strand().nanoTime() + timeout.toNanos();
    ReadView now = view.get();
    if (now == null) {
      tell(answer, null, notReady());
    } else if (now.seq() < minSeq) {
      waiting.add(
          minSeq,
          deadline,
          () -> answer(query, answer, deadline),
          refusal -> tell(answer, null, refusal));
    } else {
      answer(query, answer, deadline);
    }
  }

  private <T> void answer(Function<ReadView, T> query, ReadAnswer<T> answer, long deadlineNanos) {
    ReadView now = view.get();
    if (now == null) {
      tell(answer, null, notReady());
      return;
    }
    Leading term = leading.get();
    T found;
    try {
      found = query.apply(now);
    } catch (RuntimeException e) {
      LOG.error("A read failed", e);
      loop.listener().onFault("a read");
      tell(answer, null, Decisions.FAULT);
      return;
    }
    if (term == null) {
      tell(answer, found, null);
    } else {
      term.answerWhenDurable(
          () -> tell(answer, found, null), refusal -> tell(answer, null, refusal), deadlineNanos);
    }
  }

  /** What somebody does with an answer is no reason to begin anew. */
  private <T> void tell(ReadAnswer<T> answer, @Nullable T found, @Nullable Refusal refusal) {
    try {
      answer.accept(found, refusal);
    } catch (RuntimeException e) {
      LOG.error("A caller failed on its answer", e);
      loop.listener().onFault("answering a read");
    }
  }

  void watch(
      RunId id,
      long minSeq,
      Duration timeout,
      RunWatcher watcher,
      Consumer<@Nullable Refusal> missing) {
    read(
        minSeq,
        timeout,
        now -> {
          Run run = now.state().run(id);
          return run == null ? Watched.NOT_LIVE : watch(run, now, watcher);
        },
        (found, refusal) -> {
          if (refusal != null) {
            missing.accept(refusal);
          } else if (found == Watched.NOT_LIVE) {
            missing.accept(null);
          } else if (found == Watched.NO_ROOM) {
            missing.accept(
                new Refusal(
                    RefusalCode.OVERLOADED,
                    "Very many runs are watched at this node: ask another one.",
                    Duration.ofSeconds(1)));
          }
        });
  }

  private enum Watched {
    FOLLOWED,
    NOT_LIVE,
    NO_ROOM
  }

  private Watched watch(Run run, ReadView now, RunWatcher watcher) {
    if (watchers.areFull()) {
      return Watched.NO_ROOM;
    }
    Leading term = leading.get();
    Runnable first = watcher.changed(run, now, now.state().term(), now.state().leaderNodeId());
    if (term == null) {
      first.run();
    } else {
      term.pipeline().whenDurable(first);
    }
    if (!run.status().isTerminal()) {
      watchers.add(run.number(), watcher);
    }
    return Watched.FOLLOWED;
  }

  void unwatch(RunId id, RunWatcher watcher) {
    ReadView now = view.get();
    Run run = now == null ? null : now.state().run(id);
    if (run != null) {
      watchers.remove(run.number(), watcher);
    }
  }

  /** Nothing is loaded any more. */
  void close() {
    waiting.refuseAll(notReady());
    watchers.closeAll();
  }
}
