package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Answer;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.RunRecord;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Retained;
import dev.baton.scheduler.engine.Run;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.journal.RunCodec;
import dev.baton.scheduler.model.Limits;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs that have ended leave the state for the history, and the oldest of the history are
 * forgotten. A record that is too long for an entry is written in parts before, by the pool.
 */
final class Retirement {
  private static final int RUNS_PER_TURN = 64;

  /** A new leader has more urgent things to do. */
  private static final Duration PAUSE_AT_FIRST = Duration.ofSeconds(1);

  private static final int TASKS_ON_THE_LOOP = 200;
  private static final int IN_PARTS_AT_ONCE = 4;
  private static final int LOOKED_AT = 64;
  private static final Pause FIRST_PAUSE = Pause.upTo(Duration.ofSeconds(5));

  private final Loop loop;
  private final ClusterState state;
  private final long term;
  private final Leading leading;
  private final Outputs outputs;
  private final Set<Run> tooLong = new HashSet<>();
  private final Set<Run> inParts = new HashSet<>();
  private final long beginsNanos;
  private boolean closed;

  Retirement(Loop loop, ClusterState state, long term, Leading leading) {
    this.loop = loop;
    this.state = state;
    this.term = term;
    this.leading = leading;
    this.outputs = new Outputs(loop.reads(), loop.keys(), loop.strand());
    this.beginsNanos = loop.strand().nanoTime() + PAUSE_AT_FIRST.toNanos();
  }

  void close() {
    closed = true;
  }

  /** Retires what ended some time ago, as far as there is room. */
  void step() {
    if (loop.strand().nanoTime() - beginsNanos < 0) {
      return;
    }
    long now = loop.now();
    int budget = RUNS_PER_TURN;
    boolean crowded = state.ended().size() > Limits.RETIRE_AT_ONCE;
    while (budget-- > 0) {
      Run run = next(now, crowded);
      if (run == null || !retire(run)) {
        return;
      }
    }
  }

  /** Few long records at a time, for each takes memory; they hold up no short ones behind them. */
  private @Nullable Run next(long now, boolean crowded) {
    int lookedAt = 0;
    for (Run run : state.ended()) {
      lookedAt++;
      if (lookedAt > LOOKED_AT
          || (!crowded && now - run.endedAt() < Limits.RETIRE_AFTER.toMillis())) {
        return null;
      }
      if (!inParts.contains(run) && (!isLong(run) || inParts.size() < IN_PARTS_AT_ONCE)) {
        return run;
      }
    }
    return null;
  }

  private boolean isLong(Run run) {
    return run.size() > TASKS_ON_THE_LOOP || tooLong.contains(run);
  }

  /** False: no more for now. */
  private boolean retire(Run run) {
    if (isLong(run)) {
      inParts(run);
      return true;
    }
    RunRecord record =
        RunCodec.encodeForHistory(run, workerId -> state.workers().life(workerId).workerId());
    if (record.getSerializedSize() > Limits.HISTORY_INLINE_BYTES) {
      tooLong.add(run);
      return true;
    }
    return leading.retire(run, HistoryRun.newBuilder().setRecord(record).build());
  }

  private void inParts(Run run) {
    inParts.add(run);
    Map<Integer, String> workers = new HashMap<>();
    state.workers().all().forEach((ref, life) -> workers.put(ref, life.workerId()));
    IntFunction<String> workerIds = ref -> workers.getOrDefault(ref, "");
    loop.pool()
        .execute(() -> {
          RunRecord record = RunCodec.encodeForHistory(run, workerIds);
          ByteString bytes = record.toByteString();
          RunRecord summary = RunCodec.withoutTasks(record);
          loop.strand().execute(() -> write(run, summary, bytes, 0, FIRST_PAUSE));
        });
  }

  private void write(Run run, RunRecord summary, ByteString bytes, int index, Pause pause) {
    int from = index * Limits.PART_BYTES;
    if (closed) {
      return;
    }
    if (from >= bytes.size()) {
      finish(run, HistoryRun.newBuilder().setRecord(summary).setParts(index).build());
      return;
    }
    ByteString part = bytes.substring(from, Math.min(bytes.size(), from + Limits.PART_BYTES));
    Answer.of(
        outputs.putHistoryPart(run.number(), index, part, term),
        loop.strand(),
        written -> {
          if (closed) {
            return;
          }
          if (written) {
            write(run, summary, bytes, index + 1, FIRST_PAUSE);
          } else {
            leading.end(new Leading.End("another node leads", false));
          }
        },
        failure ->
            loop.strand()
                .schedule(pause.now(), () -> write(run, summary, bytes, index, pause.longer())));
  }

  private void finish(Run run, HistoryRun record) {
    if (closed) {
      return;
    }
    if (leading.retire(run, record)) {
      inParts.remove(run);
      tooLong.remove(run);
      leading.touched();
    } else {
      loop.strand().schedule(Duration.ofMillis(50), () -> finish(run, record));
    }
  }

  /** Forgets what is over the limits of retention, but no id before its time. */
  void tick() {
    Retained retained = state.retained();
    long now = loop.now();
    long drop = 0;
    int left = retained.size();
    for (Retained.Row row : retained.rows()) {
      long age = now - row.retiredAt();
      boolean over =
          left > loop.settings().retainRuns() || age > loop.settings().retainFor().toMillis();
      if (!over || age < loop.settings().upkeep().rememberIds().toMillis()) {
        // An entry's records go together or stay together.
        drop = Math.min(drop, row.historySeq() - 1);
        break;
      }
      left--;
      drop = row.historySeq();
    }
    if (drop > state.historyDropped()) {
      leading.decisions().soon(new Command.DropHistory(drop));
    }
  }
}
