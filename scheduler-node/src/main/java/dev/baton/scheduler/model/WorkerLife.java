package dev.baton.scheduler.model;

/**
 * One process life of a worker.
 *
 * @param workerId what the operator calls it
 * @param incarnation drawn at random by the process
 */
public record WorkerLife(String workerId, String incarnation) {
  @Override
  public String toString() {
    return workerId + "#" + incarnation;
  }
}
