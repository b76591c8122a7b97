package dev.baton.scheduler.simulation;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** How often each thing has happened that the simulation is there to see. */
final class Coverage {
  /** Something worth seeing. Over many seeds none of them may be missing. */
  enum Sight {
    // Leadership.
    ELECTION,
    DEPOSED_REFUSED,
    DEPOSED_RESTARTED,
    DEPOSED_SILENT,
    WRONG_GUESS,
    TERM_LOST,
    RESIGNED,
    TAKE_OVER_READ_MORE,
    // The journal.
    ENTRY,
    FENCED,
    RESENT,
    RESENT_COPY_WON,
    UNKNOWN_OUTCOME,
    LATE_APPLICATION,
    STALLED,
    SNAPSHOT,
    SNAPSHOT_BY_STANDBY,
    SNAPSHOT_BY_LEADER,
    LOAD,
    LOAD_OF_A_SNAPSHOT,
    FOLD_COMPARED,
    LOAD_COMPARED,
    HISTORY_DROPPED,
    SPEC_DROPPED,
    SPEC_DELETED,
    LONG_TEXT_DELETED,
    COMPACTION,
    COMPACTED_READ,
    WATCH_BROKEN,
    WATCH_EVENT_LOST,
    ETCD_ELECTION,
    LEASE_EXPIRED,
    // Work.
    RUN_SUCCESS,
    RUN_FAILED,
    RUN_CANCELLED,
    RUN_TIMEOUT,
    ATTEMPT_STARTED,
    RETRY,
    TIMERS_LOOKED_AT,
    RETURN,
    LOSS,
    ADOPTION,
    LATE_SUCCESS_OF_LOST,
    ASSIGN_AGAIN,
    INVENTORY,
    INPUTS_IN_POOL,
    STORED_OUTPUT,
    STORED_PARAMS,
    BACKSTOP,
    TASK_TIMEOUT,
    OVERDUE_HANDLER,
    CANCELLED_UNKNOWN,
    PROVEN_GONE,
    DROPPED_TERM,
    DROPPED_KNOWN,
    DROPPED_REGISTRATION,
    ACK_ACCEPTED,
    ACK_DUPLICATE,
    ACK_STALE,
    ACK_UNKNOWN,
    // Users.
    SUBMITTED,
    SUBMIT_REPEATED,
    KEY_REPEATED,
    KEY_CONFLICT,
    KEY_OF_THE_PAST,
    CANCEL_RECORDED,
    CORDONED,
    UNCORDONED,
    DRAINED,
    READ,
    WATCHED,
    REFUSED_NOT_READY,
    REFUSED_STORE_FULL,
    // Faults.
    FAULT_CRASH,
    FAULT_HOST_LOST,
    FAULT_PAUSE,
    FAULT_CUT_ETCD,
    FAULT_CUT_NODES,
    FAULT_CUT_WORKERS,
    FAULT_CUT_ONE_WAY,
    FAULT_STREAM_BROKEN,
    FAULT_STREAM_HUNG,
    FAULT_ETCD_LOSSES,
    FAULT_ETCD_LATE,
    FAULT_ETCD_REFUSES,
    FAULT_ETCD_HANGS,
    FAULT_ETCD_ISOLATED,
    FAULT_ETCD_ELECTION,
    FAULT_NO_SPACE,
    FAULT_COMPACTION,
    FAULT_WATCH_BROKEN,
    FAULT_WATCH_EVENT_LOST,
    FAULT_CLOCK_JUMP,
    FAULT_WORKER_CRASH,
    FAULT_WORKER_PAUSE,
    FAULT_WORKER_DRAIN,
    FAULT_SLOW_POOL,
    FAULT_RESIGN
  }

  private final Map<Sight, Long> counts = new EnumMap<>(Sight.class);

  void see(Sight sight) {
    counts.merge(sight, 1L, Long::sum);
  }

  void see(Sight sight, long times) {
    if (times > 0) {
      counts.merge(sight, times, Long::sum);
    }
  }

  long count(Sight sight) {
    return counts.getOrDefault(sight, 0L);
  }

  void add(Coverage other) {
    other.counts.forEach(this::see);
  }

  /** How many kinds of fault there were. */
  long kindsOfFault() {
    return counts.keySet().stream().filter(sight -> sight.name().startsWith("FAULT_")).count();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (Sight sight : Sight.values()) {
      text.append(
          "%-24s %10d%n"
              .formatted(sight.name().toLowerCase(Locale.ROOT).replace('_', ' '), count(sight)));
    }
    return text.toString();
  }
}
