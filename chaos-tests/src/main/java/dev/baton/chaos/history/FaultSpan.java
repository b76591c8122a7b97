package dev.baton.chaos.history;

import dev.baton.chaos.history.Observation.Failover;
import java.util.List;

/**
 * One fault from its injection to the healing of its round.
 *
 * @param healed the history's end if nobody healed it
 */
public record FaultSpan(
    int round,
    String name,
    List<String> targets,
    long term,
    Failover failover,
    long boundMillis,
    long injected,
    long healed) {
  public FaultSpan {
    targets = List.copyOf(targets);
  }
}
