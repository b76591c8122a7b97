package dev.baton.scheduler.loop;

import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a worker said in one message. */
public record WorkerReport(
    @Nullable Inventory inventory,
    List<Finished> results,
    List<AttemptName> returned,
    List<AttemptName> cancelledUnknown,
    List<Progress> progress) {
  public WorkerReport {
    results = List.copyOf(results);
    returned = List.copyOf(returned);
    cancelledUnknown = List.copyOf(cancelledUnknown);
    progress = List.copyOf(progress);
  }

  /** The same, but for what it holds. */
  public WorkerReport withoutInventory() {
    return new WorkerReport(null, results, returned, cancelledUnknown, progress);
  }

  /**
   * All that it holds.
   *
   * @param term whose leader asked
   * @param lingering they have ended and are judged, but still fill slots
   */
  public record Inventory(
      long term,
      List<AttemptName> running,
      List<AttemptName> results,
      List<AttemptName> returned,
      List<AttemptName> lingering) {
    public Inventory {
      running = List.copyOf(running);
      results = List.copyOf(results);
      returned = List.copyOf(returned);
      lingering = List.copyOf(lingering);
    }
  }

  /**
   * How an attempt ended.
   *
   * @param outcome SUCCESS, FAILED, TIMEOUT or CANCELLED
   * @param outputJson empty: null
   */
  public record Finished(
      AttemptName name,
      Outcome outcome,
      String outputJson,
      String error,
      int durationMs,
      boolean isFinal) {}

  /** A handler's word on how far it has come, 0 to 1. */
  public record Progress(AttemptName name, double fraction, String message) {}
}
