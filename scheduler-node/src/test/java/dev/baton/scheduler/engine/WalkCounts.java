package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.RefusalCode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** How often each thing happened in all walks: what never happened was not tested. */
final class WalkCounts {
  private static final List<RefusalCode> REFUSALS_OF_THE_ENGINE =
      List.of(
          RefusalCode.KEY_CONFLICT,
          RefusalCode.NO_WORKER,
          RefusalCode.RUN_NOT_FOUND,
          RefusalCode.WORKER_NOT_FOUND);

  private final Map<String, Long> counts = new TreeMap<>();

  WalkCounts() {
    for (Class<?> kind : List.of(Command.class, Event.class, Effect.class, Answer.class)) {
      for (Class<?> member : kind.getPermittedSubclasses()) {
        if (member.isRecord()) {
          counts.put(name(kind, member), 0L);
        }
      }
    }
    for (Verdict verdict : Verdict.values()) {
      counts.put("Verdict " + verdict, 0L);
    }
    for (Outcome outcome : Outcome.values()) {
      counts.put("Outcome " + outcome, 0L);
    }
    for (RefusalCode code : REFUSALS_OF_THE_ENGINE) {
      counts.put("Refusal " + code, 0L);
    }
  }

  private static String name(Class<?> kind, Class<?> member) {
    return kind.getSimpleName() + " " + member.getSimpleName();
  }

  void count(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  void count(Command command) {
    count(name(Command.class, command.getClass()));
  }

  void count(Event event) {
    count(name(Event.class, event.getClass()));
    if (event instanceof Event.AttemptEnded ended) {
      count("Outcome " + ended.outcome());
    }
  }

  void count(Effect effect) {
    count(name(Effect.class, effect.getClass()));
    if (effect instanceof Effect.SendAck ack) {
      count("Verdict " + ack.verdict());
    } else if (effect instanceof Effect.Reply reply) {
      count(name(Answer.class, reply.answer().getClass()));
      if (reply.answer() instanceof Answer.Refused refused) {
        count("Refusal " + refused.refusal().code());
      }
    }
  }

  /** What never happened. */
  List<String> missing() {
    return counts.entrySet().stream()
        .filter(e -> e.getValue() == 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    Stream<Map.Entry<String, Long>> entries = counts.entrySet().stream();
    entries.forEach(e -> text.append(String.format("%-32s %12d%n", e.getKey(), e.getValue())));
    return text.toString();
  }
}
