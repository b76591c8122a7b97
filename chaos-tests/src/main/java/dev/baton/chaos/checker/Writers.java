package dev.baton.chaos.checker;

import dev.baton.chaos.checker.Finding.Collector;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.EntryWritten;
import dev.baton.chaos.history.Observation.HeadWritten;
import dev.baton.chaos.history.Observation.LeaderChanged;
import dev.baton.chaos.history.Observation.WatchBroken;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Terms only grow, and who writes to the journal leads at that very revision of etcd. The watch
 * tells changes of all keys in the order in which etcd made them; a term is the revision of the put
 * that began it, so an entry or a head of another term than the newest was not fenced.
 */
final class Writers implements Check {
  static final String NAME = "one-writer-per-term";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String promise() {
    return "Terms only grow; only the leader of the term writes; entries are numbered without gaps"
        + " and never written twice.";
  }

  /** A change of one of the keys that only leaders write. */
  private record Write(long revision, long term, long seq, String what, boolean entry) {}

  @Override
  public Finding judge(History history) {
    Collector collector = new Collector();
    boolean missed = history.each(WatchBroken.class).stream().anyMatch(WatchBroken::missed);
    if (missed) {
      collector.unknown("the watch on etcd missed revisions");
    }
    List<LeaderChanged> leaders = history.each(LeaderChanged.class);
    if (leaders.isEmpty()) {
      collector.unknown("no leader was seen");
      return collector.finding();
    }
    judgeTerms(leaders, collector);
    Map<Long, Long> revisionOfSeq = new HashMap<>();
    long lastSeq = 0;
    int at = -1;
    for (Write write : writes(history)) {
      collector.looked();
      while (at + 1 < leaders.size() && leaders.get(at + 1).revision() <= write.revision()) {
        at++;
      }
      if (at >= 0) {
        judgeFence(leaders.get(at), write, collector);
      }
      if (write.entry()) {
        Long earlier = revisionOfSeq.put(write.seq(), write.revision());
        if (earlier != null && earlier != write.revision()) {
          collector.broken(
              "entry %d was written twice, at the revisions %d and %d"
                  .formatted(write.seq(), earlier, write.revision()));
        } else if (earlier == null && lastSeq != 0 && write.seq() != lastSeq + 1 && !missed) {
          collector.broken("entry %d follows entry %d".formatted(write.seq(), lastSeq));
        }
        lastSeq = Math.max(lastSeq, write.seq());
      }
    }
    return collector.finding();
  }

  private static void judgeTerms(List<LeaderChanged> leaders, Collector collector) {
    for (int i = 1; i < leaders.size(); i++) {
      if (leaders.get(i).revision() < leaders.get(i - 1).revision()) {
        collector.broken(
            "term %d came after %d"
                .formatted(leaders.get(i).revision(), leaders.get(i - 1).revision()));
      }
    }
  }

  private static void judgeFence(LeaderChanged leader, Write write, Collector collector) {
    if (leader.node().isEmpty()) {
      collector.broken(
          "%s was written at revision %d in term %d, when nobody led"
              .formatted(write.what(), write.revision(), write.term()));
    } else if (leader.revision() != write.term()) {
      collector.broken(
          "%s was written at revision %d in term %d, when %s led in term %d"
              .formatted(
                  write.what(), write.revision(), write.term(), leader.node(), leader.revision()));
    }
  }

  private static List<Write> writes(History history) {
    List<Write> writes = new ArrayList<>();
    for (Observation observation : history.each(Observation.class)) {
      switch (observation) {
        case EntryWritten entry ->
            writes.add(
                new Write(
                    entry.revision(), entry.term(), entry.seq(), "entry " + entry.seq(), true));
        case HeadWritten head ->
            writes.add(
                new Write(head.revision(), head.term(), head.seq(), "head " + head.seq(), false));
        default -> {
          // Not written by leaders.
        }
      }
    }
    writes.sort((a, b) -> Long.compare(a.revision(), b.revision()));
    return writes;
  }
}
