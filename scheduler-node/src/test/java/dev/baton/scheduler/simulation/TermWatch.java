package dev.baton.scheduler.simulation;

/** One life of a worker: which terms it has heard of, and which of them it obeys. */
final class TermWatch {
  private final Judge judge;
  private final String worker;
  private long highest;
  private long hearing;

  TermWatch(Judge judge, String worker) {
    this.judge = judge;
    this.worker = worker;
  }

  /** A message of a leader comes in; what follows until the next one is done by its word. */
  void hears(long term) {
    hearing = term;
    highest = Math.max(highest, term);
  }

  void obeys(String what) {
    judge.check(
        Invariant.WORKER_TERMS,
        hearing >= highest,
        "%s obeys term %d (%s) after it has seen term %d",
        worker,
        hearing,
        what,
        highest);
  }
}
