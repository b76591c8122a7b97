package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.Effect.Verdict;
import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.WorkerLife;
import java.util.Map;

/**
 * The way to workers. What is said between two flushes leaves in as few messages as possible; what
 * is said to a life without a stream is dropped, for its next inventory repairs that. Called on the
 * loop's thread.
 */
public interface WorkerSink {
  /** This node leads from now on: streams carry this term, and every worker is greeted. */
  void openTerm(long term);

  /** This node leads no more: nothing that was said and not sent may leave. */
  void closeTerm();

  /** Asks a life that has just opened a stream to say what it holds. */
  void greet(WorkerLife to);

  void askInventory(WorkerLife to);

  void assign(WorkerLife to, Assignment assignment);

  void cancel(WorkerLife to, AttemptName name, String reason);

  void acknowledge(WorkerLife to, AttemptName name, Verdict verdict);

  /** Asks a life's process to end. */
  void drain(WorkerLife to);

  void flush();

  /**
   * An attempt with all that its worker needs.
   *
   * @param params JSON texts by name
   * @param timeoutMs 0: none
   * @param createdAt of the run, ms
   * @param seq the entry that decided the attempt, or the newest one if it is sent again
   */
  record Assignment(
      AttemptName name,
      String type,
      int priority,
      Map<String, String> params,
      long timeoutMs,
      long createdAt,
      long seq) {}
}
