package dev.baton.scheduler.engine;

import static dev.baton.scheduler.engine.WalkInvariants.check;

import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Effect.Answer;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.RunParams;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Those who submit and cancel, at times again, and at times with another body under the same id.
 */
final class WalkUsers {
  private static final int LIVE_RUNS = 10;

  private final Walk walk;
  private final Random random;
  private final List<RunId> submitted = new ArrayList<>();
  private final Map<RunId, Command.Submit> known = new LinkedHashMap<>();
  private final Map<RunId, Long> retiredIn = new LinkedHashMap<>();
  private final List<Flow> flows = new ArrayList<>();
  private long drawn;

  WalkUsers(Walk walk, Random random) {
    this.walk = walk;
    this.random = random;
    for (int i = 0; i < 5; i++) {
      flows.add(WalkFlows.draw(random));
    }
  }

  void submit() {
    ClusterState state = walk.state();
    if (state.runs().size() >= LIVE_RUNS) {
      return;
    }
    if (random.nextInt(12) == 0) {
      flows.set(random.nextInt(flows.size()), WalkFlows.draw(random));
    }
    Flow flow = flows.get(random.nextInt(flows.size()));
    RunId id = new RunId(7, ++drawn);
    long body = flow.hashCode();
    RunId before = randomId();
    Command.Submit first = known.get(before);
    if (random.nextInt(8) == 0 && first != null) {
      id = before;
      body = random.nextInt(3) == 0 ? body + 1 : first.bodyHash();
    }
    submit(
        new Command.Submit(
            new CallId(drawn),
            id,
            flow.hash(),
            flow.workflow(),
            random.nextInt(4) == 0 ? "other" : "default",
            Map.of("a", "b"),
            "ann",
            random.nextInt(3) == 0 ? "k" + random.nextInt(10) : "",
            body,
            random.nextInt(4) == 0 ? new RunParams.Stored(drawn, 3000) : RunParams.NONE,
            random.nextInt(8) == 0));
  }

  private void submit(Command.Submit submit) {
    RunId first = firstWithKey(submit);
    Decision decision = walk.decide(submit);
    Answer answer = ((Effect.Reply) decision.effects().getFirst()).answer();
    if (!decision.events().isEmpty()) {
      check(!known.containsKey(submit.id()) && first == null, "A run is created once", submit);
      known.put(submit.id(), submit);
      submitted.add(submit.id());
      return;
    }
    boolean sameId = known.containsKey(submit.id());
    if (!sameId && first == null) {
      check(answer instanceof Answer.Refused, "What is new is created or refused", answer);
      return;
    }
    RunId expected = first == null || sameId ? submit.id() : first;
    long body = Objects.requireNonNull(known.get(expected)).bodyHash();
    switch (answer) {
      case Answer.Submitted(RunId id, boolean existing, var warnings) ->
          check(id.equals(expected) && existing && body == submit.bodyHash(), "Known", answer);
      case Answer.SubmittedBefore before ->
          check(
              !sameId
                  && retiredIn.getOrDefault(expected, -1L) == before.historySeq()
                  && body == submit.bodyHash(),
              "Known by its key",
              answer);
      case Answer.Refused refused -> check(body != submit.bodyHash(), "Another body", answer);
      case Answer.CancelRecorded recorded -> throw new AssertionError(answer);
      case Answer.ServiceRecorded recorded -> throw new AssertionError(answer);
    }
  }

  private @Nullable RunId firstWithKey(Command.Submit submit) {
    for (Command.Submit other : known.values()) {
      if (!submit.key().isEmpty()
          && other.key().equals(submit.key())
          && other.tenant().equals(submit.tenant())) {
        return other.id();
      }
    }
    return null;
  }

  /** Remembers what the engine has to remember. */
  void observe(Event event, long seq) {
    if (event instanceof Event.RunRetired) {
      for (RunId id : known.keySet()) {
        if (walk.state().run(id) == null) {
          retiredIn.putIfAbsent(id, seq);
        }
      }
    } else if (event instanceof Event.HistoryDropped(long upTo)) {
      retiredIn.values().removeIf(retired -> retired <= upTo);
      known.keySet().removeIf(id -> walk.state().run(id) == null && !retiredIn.containsKey(id));
    }
    check(walk.state().retained().size() == retiredIn.size(), "What is retained", event);
  }

  /** One worker goes out of service, and another comes back. */
  void changeService(String workerId) {
    if (random.nextBoolean()) {
      walk.decide(
          new Command.Cordon(
              new CallId(drawn),
              workerId,
              random.nextBoolean(),
              random.nextInt(4) == 0 ? "gone" : "",
              "ann"));
    } else {
      walk.decide(new Command.Uncordon(new CallId(drawn), workerId));
    }
  }

  void cancelSomething() {
    RunId id = random.nextInt(10) == 0 ? new RunId(1, 1) : randomId();
    walk.decide(new Command.Cancel(new CallId(drawn), id, "bob", "why not"));
  }

  /** One that was submitted some time. */
  RunId randomId() {
    return submitted.isEmpty()
        ? new RunId(0, 0)
        : submitted.get(Math.max(0, submitted.size() - 1 - random.nextInt(30)));
  }
}
