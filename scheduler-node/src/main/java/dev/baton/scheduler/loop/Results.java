package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Answer;
import dev.baton.scheduler.engine.Attempt;
import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Place;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Outcome;
import dev.baton.scheduler.model.Output;
import dev.baton.scheduler.model.WorkerLife;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Results on their way to the engine. A long output is written to etcd first, and only if the
 * result can count; such a write that fails is tried again for as long as the term lasts, for
 * nobody else repeats it.
 */
final class Results {
  private static final Pause FIRST_PAUSE = Pause.upTo(Duration.ofSeconds(5));

  private final Loop loop;
  private final ClusterState state;
  private final Backstops backstops;
  private final long term;
  private final Outputs outputs;
  private final Consumer<Command> decide;
  private final Consumer<Leading.End> end;
  private final Map<WorkerLife, Integer> holding = new HashMap<>();
  private boolean closed;

  Results(
      Loop loop,
      ClusterState state,
      Backstops backstops,
      long term,
      Consumer<Command> decide,
      Consumer<Leading.End> end) {
    this.loop = loop;
    this.state = state;
    this.backstops = backstops;
    this.term = term;
    this.outputs = new Outputs(loop.reads(), loop.keys(), loop.strand());
    this.decide = decide;
    this.end = end;
  }

  void close() {
    closed = true;
  }

  /** Lives whose reports are held until their outputs are stored: they may not be read from. */
  Set<WorkerLife> holding() {
    return holding.keySet();
  }

  /** {@code taken} runs once none of them is held in memory any more. */
  void take(WorkerLife from, List<WorkerReport.Finished> results, Runnable taken) {
    int[] held = {1};
    holding.merge(from, 1, Integer::sum);
    Runnable release =
        () -> {
          held[0]--;
          if (held[0] == 0) {
            holding.computeIfPresent(from, (life, reports) -> reports == 1 ? null : reports - 1);
            taken.run();
          }
        };
    for (WorkerReport.Finished result : results) {
      ByteString output = ByteString.copyFromUtf8(result.outputJson());
      AttemptRef attempt = output.size() <= Limits.INLINE_BYTES ? null : current(result);
      if (result.outcome() != Outcome.SUCCESS || attempt == null) {
        decide(from, result, inline(result, output));
      } else if (output.size() > Limits.STORED_BYTES) {
        decide(from, tooLong(result, output.size()), Output.NONE);
      } else if (backstops.beginStoring(attempt)) {
        held[0]++;
        store(from, result, attempt, output, release, FIRST_PAUSE);
      }
    }
    release.run();
  }

  /** An output that is long but cannot count any more is only judged, never kept. */
  private static Output inline(WorkerReport.Finished result, ByteString output) {
    return output.isEmpty() || output.size() > Limits.INLINE_BYTES
        ? Output.NONE
        : new Output.Inline(result.outputJson());
  }

  private static WorkerReport.Finished tooLong(WorkerReport.Finished result, int size) {
    return new WorkerReport.Finished(
        result.name(),
        Outcome.FAILED,
        "",
        "its output has "
            + size
            + " bytes and the limit is "
            + Limits.STORED_BYTES
            + ": write it to a file or an object store and return the place",
        result.durationMs(),
        true);
  }

  private void store(
      WorkerLife from,
      WorkerReport.Finished result,
      AttemptRef attempt,
      ByteString output,
      Runnable release,
      Pause pause) {
    Answer.of(
        outputs.putOutput(attempt, output, term),
        loop.strand(),
        written -> {
          release.run();
          if (closed) {
            return;
          }
          if (written) {
            backstops.endStoring(attempt);
            decide(from, result, new Output.Stored(output.size()));
          } else {
            end.accept(new Leading.End("another node leads", false));
          }
        },
        failure -> {
          if (closed) {
            release.run();
          } else {
            loop.strand()
                .schedule(
                    pause.now(),
                    () -> store(from, result, attempt, output, release, pause.longer()));
          }
        });
  }

  private void decide(WorkerLife from, WorkerReport.Finished result, Output output) {
    decide.accept(
        new Command.TakeResult(
            from,
            result.name(),
            new Command.Result(
                result.outcome(), output, result.error(), result.durationMs(), result.isFinal())));
  }

  /** The attempt, if a success of it would be accepted now. */
  private @Nullable AttemptRef current(WorkerReport.Finished result) {
    Place place = state.place(result.name());
    if (place == null || place.state().status().isTerminal()) {
      return null;
    }
    Attempt last = place.state().lastAttempt();
    return last != null && last.number() == result.name().attempt()
        ? place.attempt(last.number())
        : null;
  }
}
