package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.model.Refusal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Callers whose write was taken, and who wait for its answer. Of one term. */
final class Calls {
  private static final Logger LOG = LoggerFactory.getLogger(Calls.class);
  private static final int CAPACITY = 8_192;

  private final LoopListener listener;
  private final Map<Long, Caller> waiting = new LinkedHashMap<>();
  private long last;

  Calls(LoopListener listener) {
    this.listener = listener;
  }

  /** Nobody more is to be taken until some have heard. */
  boolean isFull() {
    return waiting.size() >= CAPACITY;
  }

  CallId add(Caller caller) {
    last++;
    waiting.put(last, caller);
    return new CallId(last);
  }

  /** False: the caller has heard already. */
  boolean isWaiting(CallId call) {
    return waiting.containsKey(call.number());
  }

  void answer(CallId call, Answer answer, long seq) {
    Caller caller = waiting.remove(call.number());
    if (caller != null) {
      tell(caller, answer, seq);
    }
  }

  void refuse(Caller caller, Refusal refusal) {
    tell(caller, new Answer.Refused(refusal), 0);
  }

  void refuseAll(Refusal refusal) {
    // In the order of their calls.
    List<Caller> before = List.copyOf(waiting.values());
    waiting.clear();
    before.forEach(caller -> refuse(caller, refusal));
  }

  /** What a caller does with its answer is no reason for the term to end. */
  private void tell(Caller caller, Answer answer, long seq) {
    if (answer instanceof Answer.Refused(Refusal refusal)) {
      listener.onRefused(refusal.code().name());
    }
    try {
      caller.hear(answer, seq);
    } catch (RuntimeException e) {
      LOG.error("A caller failed on its answer", e);
      listener.onFault("answering a call");
    }
  }
}
