package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Reads that wait for the state to reach an entry. Bounded; touched by the loop's thread. */
final class Reads {
  private static final int CAPACITY = 10_000;

  private record Waiting(
      long minSeq, long deadlineNanos, Runnable read, Consumer<Refusal> refuse) {}

  private List<Waiting> waiting = new ArrayList<>();

  void add(long minSeq, long deadlineNanos, Runnable read, Consumer<Refusal> refuse) {
    if (waiting.size() >= CAPACITY) {
      refuse.accept(
          new Refusal(
              RefusalCode.OVERLOADED,
              CAPACITY + " reads wait for this node to catch up: ask another one.",
              Duration.ofMillis(500)));
      return;
    }
    waiting.add(new Waiting(minSeq, deadlineNanos, read, refuse));
  }

  /** The state has come to this entry. */
  void reached(long seq) {
    if (waiting.isEmpty()) {
      return;
    }
    List<Waiting> before = waiting;
    waiting = new ArrayList<>();
    for (Waiting read : before) {
      if (read.minSeq() <= seq) {
        read.read().run();
      } else {
        waiting.add(read);
      }
    }
  }

  void expire(long nowNanos) {
    waiting.removeIf(read -> {
      boolean over = nowNanos - read.deadlineNanos() > 0;
      if (over) {
        read.refuse()
            .accept(
                new Refusal(
                    RefusalCode.NOT_READY,
                    "This node has not reached entry "
                        + read.minSeq()
                        + " in time: ask another one."));
      }
      return over;
    });
  }

  void refuseAll(Refusal refusal) {
    List<Waiting> before = waiting;
    waiting = new ArrayList<>();
    before.forEach(read -> read.refuse().accept(refusal));
  }
}
