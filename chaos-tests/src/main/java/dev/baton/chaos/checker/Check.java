package dev.baton.chaos.checker;

import dev.baton.chaos.history.History;

/** One promise, judged. */
interface Check {
  /** In the report and in {@code verdict.json}; never renamed. */
  String name();

  /** What is promised, in one sentence. */
  String promise();

  Finding judge(History history);
}
