package dev.baton.chaos.report;

import dev.baton.chaos.checker.Verdict;
import dev.baton.chaos.history.History;

/** The page. */
final class Page {
  private Page() {}

  static String of(History history, Verdict verdict) {
    return verdict.toString() + history.end();
  }
}
