package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Invoked;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Planned;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import dev.baton.chaos.history.Observation.RunRead;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Acknowledged is committed, and committed is never lost; one key is one run. */
final class CommittedRuns implements Check {
  static final String NAME = "committed-runs";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "A run whose submission was acknowledged is there at the end, and one key is one run.";
  }

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    Map<Long, Invoked> submissions = new HashMap<>();
    for (Invoked invoked : history.each(Invoked.class)) {
      if (invoked.kind() == Kind.SUBMIT) {
        submissions.put(invoked.op(), invoked);
      }
    }
    Map<String, String> runOfKey = new HashMap<>();
    for (Returned returned : history.each(Returned.class)) {
      Invoked submission = submissions.get(returned.op());
      if (submission == null || returned.result() != Result.OK) {
        continue;
      }
      collector.looked();
      judgePresence(history, returned, collector);
      Planned plan = history.planned().get(submission.run());
      if (plan == null || plan.key().isEmpty()) {
        if (!returned.run().equals(submission.run())) {
          collector.broken(
              "submission of %s was answered with the run %s"
                  .formatted(submission.run(), returned.run()));
        }
        continue;
      }
      String first = runOfKey.putIfAbsent(plan.key(), returned.run());
      if (first != null && !first.equals(returned.run())) {
        collector.broken(
            "key %s was acknowledged as the runs %s and %s"
                .formatted(plan.key(), first, returned.run()));
      }
    }
    return collector.finding();
  }

  private static void judgePresence(History history, Returned returned, Collector collector) {
    Optional<RunRead> last = history.lastRead(returned.run());
    String state = last.map(RunRead::state).orElse(RunRead.UNREADABLE);
    switch (state) {
      case RunRead.NOT_FOUND ->
          collector.broken(
              "run %s was acknowledged %s and is not there at the end"
                  .formatted(returned.run(), Moments.of(history, returned.nanos())));
      case RunRead.UNREADABLE ->
          collector.unknown("run %s could not be read at the end".formatted(returned.run()));
      default -> {
        // It is there.
      }
    }
  }
}
