package dev.baton.workflow;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * Collects problems and keeps those that come first in the text. A message is written only for a
 * problem that is kept: a hostile text could have a hundred thousand.
 */
final class Problems {
  private static final Comparator<Problem> BY_PLACE =
      Comparator.comparingInt(Problem::line).thenComparingInt(Problem::column);

  private final List<Problem> first = new ArrayList<>();
  private int total;

  void add(Place place, Node at, Supplier<String> message) {
    add(place, at.line(), at.column(), message);
  }

  void add(Place place, int line, int column, Supplier<String> message) {
    total++;
    if (first.size() == Limits.PROBLEMS) {
      Problem last = first.getLast();
      if (line > last.line() || (line == last.line() && column >= last.column())) {
        return;
      }
      first.removeLast();
    }
    first.add(new Problem(place.toString(), line, column, message.get()));
    first.sort(BY_PLACE);
  }

  boolean isEmpty() {
    return total == 0;
  }

  /** Only if it is not empty. */
  Problem first() {
    return first.getFirst();
  }

  <T> Judged<T> refusal() {
    return new Judged.Refused<>(first, total);
  }
}
