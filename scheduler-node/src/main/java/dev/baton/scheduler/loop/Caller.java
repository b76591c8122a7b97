package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Effect.Answer;

/** Somebody who waits for the answer to a write. */
public interface Caller {
  /**
   * Called once, on the loop's thread or, for a refusal, on the caller's.
   *
   * @param seq a read at this entry or later sees what was done; 0 with a refusal
   */
  void hear(Answer answer, long seq);
}
