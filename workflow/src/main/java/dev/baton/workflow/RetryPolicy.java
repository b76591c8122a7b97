package dev.baton.workflow;

import java.time.Duration;
import java.util.Set;

/**
 * When a task is tried again.
 *
 * @param attempts attempts that may fail or time out, the first included; 1 to 100
 * @param firstDelay delay after the first failure; it doubles with each further one
 * @param longestDelay where the doubling ends
 * @param finalOn failures after which nothing is tried again
 * @param maxLosses attempts that may be lost with their worker; counted apart from failures
 */
public record RetryPolicy(
    int attempts, Duration firstDelay, Duration longestDelay, Set<Failure> finalOn, int maxLosses) {
  /** One attempt, and up to five losses. */
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofMinutes(1), Set.of(), 5);

  public RetryPolicy {
    finalOn = Set.copyOf(finalOn);
  }

  /** A kind of failure that a policy can name. */
  public enum Failure {
    /** The handler failed. */
    ERROR,
    /** The attempt's time was over. */
    TIMEOUT
  }
}
