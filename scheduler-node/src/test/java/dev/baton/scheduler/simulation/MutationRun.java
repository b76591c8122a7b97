package dev.baton.scheduler.simulation;

import dev.baton.workflow.Resolver;
import java.util.EnumMap;
import java.util.Map;

/**
 * Runs seeds against product code that was broken on purpose, until the invariant that must notice
 * is violated. {@code .ci/mutations} starts it. Arguments: the invariant, how many seeds at most.
 */
public final class MutationRun {
  private MutationRun() {}

  public static void main(String[] args) {
    Invariant expected = Invariant.valueOf(args[0]);
    int most = Integer.parseInt(args[1]);
    Seeds.silenceLogs(true);
    Resolver resolver = new Resolver();
    Map<Invariant, Integer> others = new EnumMap<>(Invariant.class);
    int exceptions = 0;
    for (int seed = 1; seed <= most; seed++) {
      Seeds.Failure failure = new Seeds(resolver).run(seed, false);
      if (failure == null) {
        continue;
      }
      Invariant violated = failure.invariant();
      if (violated == expected) {
        System.out.printf("seed %d: %s%n", seed, failure.sentence());
        return;
      }
      if (violated == null) {
        exceptions++;
      } else {
        others.merge(violated, 1, Integer::sum);
      }
    }
    System.out.printf(
        "not noticed by %d seeds; others: %s, %d exceptions%n", most, others, exceptions);
    System.exit(1);
  }
}
