package dev.baton.coordination;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Goes on with the answer of a call on the strand that made it. */
public final class Answer {
  private Answer() {}

  /**
   * Runs one of the two on the strand once {@code call} has ended. What they throw is a fault of
   * the strand, not lost in a future.
   */
  public static <T> void of(
      CompletableFuture<T> call,
      Strand strand,
      Consumer<T> onAnswer,
      Consumer<EtcdException> onFailure) {
    var unused =
        call.whenCompleteAsync(
            (answer, failure) -> {
              try {
                if (failure == null) {
                  onAnswer.accept(answer);
                } else {
                  onFailure.accept(EtcdException.of(failure));
                }
              } catch (Throwable fault) {
                strand.execute(() -> rethrow(fault));
              }
            },
            strand);
  }

  private static void rethrow(Throwable fault) {
    if (fault instanceof Error error) {
      throw error;
    }
    throw fault instanceof RuntimeException known ? known : new IllegalStateException(fault);
  }
}
