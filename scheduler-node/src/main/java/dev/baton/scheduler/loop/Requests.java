package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What users ask of the leader, in order, and bounded: a full inbox refuses with a delay, so that
 * the results which drain the loop are still heard. Counted from any thread; the queue itself
 * belongs to the loop's.
 */
final class Requests {
  private static final Logger LOG = LoggerFactory.getLogger(Requests.class);

  /** Calls that wait for their turn. */
  static final int CAPACITY = 4_096;

  private static final Duration DELAY = Duration.ofMillis(500);

  private final AtomicInteger waiting = new AtomicInteger();
  private final Deque<Request> queue = new ArrayDeque<>();

  /** Something that a user asks. */
  sealed interface Request {
    Caller answer();

    record Submit(Submission submission, Caller answer) implements Request {}

    record Cordon(String workerId, boolean drain, String incarnation, String actor, Caller answer)
        implements Request {}

    record Uncordon(String workerId, Caller answer) implements Request {}

    record Cancel(RunId run, String actor, String reason, Caller answer) implements Request {}
  }

  /** Takes a place; a refusal: there is none. From any thread. */
  @Nullable Refusal enter() {
    if (waiting.incrementAndGet() <= CAPACITY) {
      return null;
    }
    waiting.decrementAndGet();
    return new Refusal(
        RefusalCode.OVERLOADED,
        CAPACITY + " calls wait for the leader already: try again later.",
        DELAY);
  }

  /** Puts what has a place into the queue. */
  void add(Request request) {
    queue.addLast(request);
  }

  @Nullable Request peek() {
    return queue.peekFirst();
  }

  void remove() {
    queue.removeFirst();
    waiting.decrementAndGet();
  }

  /** The node does not lead: all who wait hear that. */
  void refuseAll(Refusal refusal) {
    while (!queue.isEmpty()) {
      Caller answer = queue.peekFirst().answer();
      remove();
      try {
        answer.hear(new Answer.Refused(refusal), 0);
      } catch (RuntimeException e) {
        LOG.error("A caller failed on its answer", e);
      }
    }
  }
}
