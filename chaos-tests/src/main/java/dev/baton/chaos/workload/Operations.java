package dev.baton.chaos.workload;

import dev.baton.chaos.history.Observation;
import dev.baton.chaos.history.Observation.Invoked;
import dev.baton.chaos.history.Observation.Kind;
import dev.baton.chaos.history.Observation.Result;
import dev.baton.chaos.history.Observation.Returned;
import dev.baton.client.BatonException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Records what clients ask for and what comes back. Thread-safe. */
final class Operations {
  private final Consumer<Observation> journal;
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();

  Operations(Consumer<Observation> journal) {
    this.journal = journal;
  }

  /** Operations without an answer yet. */
  int open() {
    return open.get();
  }

  /**
   * Does one operation; the future completes as the call's does, after the answer is recorded.
   *
   * @param runOf the run that an answer names
   */
  <R> CompletableFuture<R> record(
      Kind kind, String run, Function<R, String> runOf, Supplier<CompletableFuture<R>> call) {
    long op = numbers.incrementAndGet();
    open.incrementAndGet();
    journal.accept(new Invoked(System.nanoTime(), op, kind, run));
    return call.get()
        .whenComplete((answer, failure) -> {
          open.decrementAndGet();
          journal.accept(
              failure == null
                  ? new Returned(System.nanoTime(), op, Result.OK, runOf.apply(answer), "")
                  : new Returned(
                      System.nanoTime(),
                      op,
                      result(failure),
                      "",
                      String.valueOf(cause(failure).getMessage())));
        });
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  /** The refusal of an operation, if it is one. */
  static @Nullable BatonException refusal(Throwable failure) {
    return cause(failure) instanceof BatonException refused ? refused : null;
  }

  /**
   * Only a node's own word that it will not do something means that it was not done. The client
   * repeats calls, so a refusal for want of room or of a leader may follow a try that got through.
   */
  static Result result(Throwable failure) {
    BatonException refused = refusal(failure);
    if (refused == null) {
      return Result.UNKNOWN;
    }
    return switch (refused.code()) {
      case INVALID_DEFINITION,
          INVALID_PARAMETER,
          INVALID_REQUEST,
          TOO_LARGE,
          KEY_CONFLICT,
          RUN_NOT_FOUND,
          TASK_NOT_FOUND,
          WORKER_NOT_FOUND,
          NO_OUTPUT,
          EXPIRED,
          NO_WORKER ->
          Result.FAIL;
      case OVERLOADED,
          STORE_FULL,
          NO_LEADER,
          NOT_READY,
          INTERNAL,
          REFUSAL_CODE_UNSPECIFIED,
          UNRECOGNIZED ->
          Result.UNKNOWN;
    };
  }
}
