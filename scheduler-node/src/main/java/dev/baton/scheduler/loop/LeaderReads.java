package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads on the leader: they have seen a state that runs ahead of etcd, so their answers wait for
 * it. Bounded in number and in time, for a stall can last; the other nodes answer meanwhile.
 */
final class LeaderReads {
  private static final int CAPACITY = 10_000;

  private final Loop loop;
  private final Pipeline pipeline;
  private final Set<Waiting> waiting = new LinkedHashSet<>();
  private int held;

  LeaderReads(Loop loop, Pipeline pipeline) {
    this.loop = loop;
    this.pipeline = pipeline;
  }

  /** Compared by identity. */
  private static final class Waiting {
    final Consumer<Refusal> refuse;
    final long deadlineNanos;

    Waiting(Consumer<Refusal> refuse, long deadlineNanos) {
      this.refuse = refuse;
      this.deadlineNanos = deadlineNanos;
    }
  }

  /** Calls one of the two, once. */
  void add(Runnable answer, Consumer<Refusal> refuse, long deadlineNanos) {
    if (held >= CAPACITY) {
      refuse.accept(
          new Refusal(
              RefusalCode.NOT_READY,
              CAPACITY + " reads wait for etcd at this node: ask another one.",
              Duration.ofMillis(500)));
      return;
    }
    Waiting read = new Waiting(refuse, deadlineNanos);
    waiting.add(read);
    held++;
    pipeline.whenDurable(() -> {
      held--;
      if (waiting.remove(read)) {
        answer.run();
      }
    });
  }

  void expire() {
    long now = loop.strand().nanoTime();
    List<Waiting> over = waiting.stream().filter(read -> now - read.deadlineNanos > 0).toList();
    Refusal refusal =
        new Refusal(
            RefusalCode.NOT_READY,
            "etcd did not confirm in time what this node read: ask another one.");
    over.forEach(waiting::remove);
    over.forEach(read -> read.refuse.accept(refusal));
  }

  void refuseAll(Refusal refusal) {
    List<Waiting> before = List.copyOf(waiting);
    waiting.clear();
    before.forEach(read -> read.refuse.accept(refusal));
  }
}
