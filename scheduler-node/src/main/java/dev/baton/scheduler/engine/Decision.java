package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.model.Refusal;
import java.util.List;

/** Events to be made durable, and effects that wait for them. */
public record Decision(List<Event> events, List<Effect> effects) {
  static final Decision NOTHING = new Decision(List.of(), List.of());

  public boolean isNothing() {
    return events.isEmpty() && effects.isEmpty();
  }

  static Decision of(Event event) {
    return new Decision(List.of(event), List.of());
  }

  static Decision of(Event event, Effect effect) {
    return new Decision(List.of(event), List.of(effect));
  }

  static Decision say(Effect effect) {
    return new Decision(List.of(), List.of(effect));
  }

  static Decision refuse(CallId call, Refusal refusal) {
    return say(new Effect.Reply(call, new Effect.Answer.Refused(refusal)));
  }
}
