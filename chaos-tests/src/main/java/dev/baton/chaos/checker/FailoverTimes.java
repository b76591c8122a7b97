package dev.baton.chaos.checker;

import dev.baton.chaos.history.FaultSpan;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.EntryWritten;
import dev.baton.chaos.history.Observation.Failover;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.Received;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How long assignments stopped: from a fault to a worker's first receipt of an assignment that was
 * made durable in a later term. A repeat of an older assignment does not count.
 *
 * @param leader who took over first; empty: nobody
 * @param nanos -1: no assignment came
 */
public record FailoverTimes(FaultSpan fault, long from, String leader, long term, long nanos) {
  /** One for each fault after which a fail-over is expected, in order. */
  public static List<FailoverTimes> of(History history) {
    Map<Long, Long> firstSeqs = new HashMap<>();
    for (EntryWritten entry : history.each(EntryWritten.class)) {
      firstSeqs.merge(entry.term(), entry.seq(), Math::min);
    }
    List<Received> receipts =
        history.each(Received.class).stream()
            .filter(r -> r.seq() >= firstSeqs.getOrDefault(r.term(), Long.MAX_VALUE))
            .toList();
    List<LeaderChanged> leaders = history.each(LeaderChanged.class);
    List<FailoverTimes> times = new ArrayList<>();
    for (FaultSpan fault : history.faults()) {
      if (fault.failover() != Failover.NONE) {
        times.add(of(fault, leaders, receipts));
      }
    }
    return List.copyOf(times);
  }

  private static FailoverTimes of(
      FaultSpan fault, List<LeaderChanged> leaders, List<Received> receipts) {
    long from = fault.failover() == Failover.FROM_HEALING ? fault.healed() : fault.injected();
    // Where etcd itself fails the leader may keep its term: then it has to assign again.
    long leastTerm = fault.failover() == Failover.FROM_HEALING ? fault.term() : fault.term() + 1;
    LeaderChanged next =
        leaders.stream()
            .filter(l -> !l.node().isEmpty() && l.revision() > fault.term())
            .findFirst()
            .orElse(new LeaderChanged(0, fault.term(), ""));
    long first =
        receipts.stream()
            .filter(r -> r.term() >= leastTerm && r.nanos() >= from)
            .mapToLong(Received::nanos)
            .min()
            .orElse(-1);
    return new FailoverTimes(
        fault, from, next.node(), next.revision(), first < 0 ? -1 : first - from);
  }

  public long millis() {
    return nanos < 0 ? -1 : Math.round(nanos / 1e6);
  }
}
