package dev.baton.workflow;

import java.util.List;
import java.util.stream.Collectors;

/** What came of judging something that a user gave: a value, or what is wrong with it. */
public sealed interface Judged<T> {
  /** No rule was broken. */
  record Accepted<T>(T value) implements Judged<T> {}

  /**
   * At least one rule was broken.
   *
   * @param problems sorted by place, at most {@link Limits#PROBLEMS}
   * @param total how many there were
   */
  record Refused<T>(List<Problem> problems, int total) implements Judged<T> {
    public Refused {
      problems = List.copyOf(problems);
    }

    /** All sentences, one a line. */
    public String report() {
      String lines = problems.stream().map(Problem::sentence).collect(Collectors.joining("\n"));
      int more = total - problems.size();
      return more == 0 ? lines : lines + "\n(and " + more + " more)";
    }
  }
}
