package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Answer;
import dev.baton.scheduler.engine.Command;
import dev.baton.scheduler.engine.Command.CallId;
import dev.baton.scheduler.engine.Effect;
import dev.baton.scheduler.journal.Outputs;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunParams;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what users ask, in order, as far as there is room for it. Long run parameters are written
 * to etcd before the submission is decided, few at a time; when etcd has no room for them the
 * caller hears so.
 */
final class Admission {
  private static final Logger LOG = LoggerFactory.getLogger(Admission.class);
  private static final int REQUESTS_PER_TURN = 512;
  private static final int STORING = 16;
  private static final Pause FIRST_PAUSE = Pause.upTo(Duration.ofSeconds(2));

  private final Loop loop;
  private final long term;
  private final Leading.Surroundings around;
  private final Calls calls;
  private final Pipeline pipeline;
  private final Decisions decisions;
  private final Consumer<Leading.End> end;
  private final Outputs outputs;
  private final Deque<Stored> stored = new ArrayDeque<>();
  private int storing;
  private boolean closed;

  /** A submission whose parameters are in etcd, or on their way. */
  private record Stored(Submission submission, CallId call, RunParams.Stored params) {}

  Admission(
      Loop loop,
      long term,
      Leading.Surroundings around,
      Calls calls,
      Pipeline pipeline,
      Decisions decisions,
      Consumer<Leading.End> end) {
    this.loop = loop;
    this.term = term;
    this.around = around;
    this.calls = calls;
    this.pipeline = pipeline;
    this.decisions = decisions;
    this.end = end;
    this.outputs = new Outputs(loop.reads(), loop.keys(), loop.strand());
  }

  void close() {
    closed = true;
    stored.clear();
  }

  /** Takes what waits, as far as there is room; true: there would be room for more. */
  boolean take() {
    takeStored();
    for (int budget = REQUESTS_PER_TURN; budget > 0; budget--) {
      Requests.Request next = around.requests().peek();
      if (next == null || calls.isFull() || storing >= STORING || !hasRoom(next)) {
        return false;
      }
      around.requests().remove();
      take(next);
    }
    return true;
  }

  /** They do not wait for the end of a stall: what no run names is taken for forgotten some day. */
  private void takeStored() {
    while (!stored.isEmpty()) {
      Stored next = stored.getFirst();
      Refusal refusal = pipeline.isStalled() ? refusal(next.submission()) : null;
      if (refusal == null && !hasRoom(next.submission())) {
        return;
      }
      stored.removeFirst();
      if (refusal == null) {
        submit(next.submission(), next.params(), next.call());
      } else {
        refuse(next.call(), refusal);
      }
    }
  }

  private boolean hasRoom(Requests.Request request) {
    return switch (request) {
      case Requests.Request.Cancel cancel -> pipeline.hasRoom(Room.INTERNAL_BYTES, 0);
      case Requests.Request.Cordon cordon -> pipeline.hasRoom(Room.INTERNAL_BYTES, 0);
      case Requests.Request.Uncordon uncordon -> pipeline.hasRoom(Room.INTERNAL_BYTES, 0);
      case Requests.Request.Submit(Submission submission, Caller answer) -> hasRoom(submission);
    };
  }

  private boolean hasRoom(Submission submission) {
    return pipeline.hasRoom(Room.SUBMIT_BYTES, submission.definition().stored().size());
  }

  private void take(Requests.Request request) {
    CallId call = calls.add(request.answer());
    try {
      switch (request) {
        case Requests.Request.Cancel(var run, var actor, var reason, var answer) ->
            decisions.now(new Command.Cancel(call, run, actor, reason));
        case Requests.Request.Cordon(
                var worker,
                var drain,
                var incarnation,
                var actor,
                var answer) ->
            decisions.now(new Command.Cordon(call, worker, drain, incarnation, actor));
        case Requests.Request.Uncordon(var worker, var answer) ->
            decisions.now(new Command.Uncordon(call, worker));
        case Requests.Request.Submit(Submission submission, Caller answer) ->
            admit(submission, call);
      }
    } catch (RuntimeException e) {
      LOG.error("Taking a request failed", e);
      loop.listener().onFault("taking a request");
      refuse(call, Decisions.FAULT);
    }
  }

  private void admit(Submission submission, CallId call) {
    Refusal refusal = refusal(submission);
    if (refusal != null) {
      refuse(call, refusal);
      return;
    }
    String params = submission.paramsJson();
    ByteString json = ByteString.copyFromUtf8(params);
    if (json.size() <= Limits.INLINE_BYTES) {
      submit(submission, new RunParams.Inline(params), call);
    } else {
      storing++;
      RunParams.Stored place = new RunParams.Stored(loop.random().nextLong(), json.size());
      store(new Stored(submission, call, place), json, FIRST_PAUSE);
    }
  }

  private void refuse(CallId call, Refusal refusal) {
    calls.answer(call, new Effect.Answer.Refused(refusal), 0);
  }

  /** Null: it can be taken. */
  private @Nullable Refusal refusal(Submission submission) {
    if (isStoreFull()) {
      return new Refusal(
          RefusalCode.STORE_FULL,
          "etcd is out of space, or nearly: nothing new is taken until there is room; running work goes on.",
          Duration.ofSeconds(5));
    }
    int tasks = submission.definition().workflow().tasks().size();
    int live = decisions.state().liveTasks();
    if (live > 0 && live + tasks > loop.settings().maxLiveTasks()) {
      return new Refusal(
          RefusalCode.OVERLOADED,
          live
              + " tasks are live and the limit is "
              + loop.settings().maxLiveTasks()
              + ": try again when some have ended.",
          Duration.ofSeconds(1));
    }
    return null;
  }

  private boolean isStoreFull() {
    return pipeline.isStalled() || around.storeIsFull().getAsBoolean();
  }

  private void store(Stored waiting, ByteString json, Pause pause) {
    String run = waiting.submission().id().toString();
    Answer.of(
        outputs.putParams(run, waiting.params().nonce(), json, term),
        loop.strand(),
        written -> {
          storing--;
          if (closed) {
            return;
          }
          if (!written) {
            end.accept(new Leading.End("another node leads", false));
            return;
          }
          stored.addLast(waiting);
          take();
        },
        failure -> {
          if (closed) {
            return;
          }
          Refusal refusal = isStoreFull() ? refusal(waiting.submission()) : null;
          if (refusal != null) {
            storing--;
            refuse(waiting.call(), refusal);
          } else {
            loop.strand().schedule(pause.now(), () -> store(waiting, json, pause.longer()));
          }
        });
  }

  private void submit(Submission submission, RunParams params, CallId call) {
    Command.Submit command =
        new Command.Submit(
            call,
            submission.id(),
            submission.definition().hash(),
            submission.definition().workflow(),
            submission.tenant(),
            submission.labels(),
            submission.actor(),
            submission.key(),
            submission.bodyHash(),
            params,
            submission.requireWorkers());
    decisions.now(command, submission.definition());
  }
}
