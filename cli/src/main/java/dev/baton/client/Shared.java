package dev.baton.client;

import dev.baton.client.Nodes.Link;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.ListNodesRequest;
import dev.baton.proto.v1.ListNodesResponse;
import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What all calls and watches of one client have in common.
 *
 * @param highestSeq the newest state that the client was told of
 * @param nextLearnNanos when the nodes are asked for each other next
 * @param answered some node answered once
 * @param scheduler one thread, for pauses and for completing futures
 * @param pending how to fail each call and watch when the client is closed
 */
record Shared(
    ClientOptions options,
    Nodes nodes,
    AtomicLong highestSeq,
    AtomicLong nextLearnNanos,
    AtomicBoolean answered,
    ScheduledExecutorService scheduler,
    Set<Consumer<BatonException>> pending) {
  private static final Duration LEARN_EVERY = Duration.ofSeconds(15);
  private static final Duration LEARN_TIMEOUT = Duration.ofSeconds(2);

  void saw(long seq) {
    answered.set(true);
    highestSeq.accumulateAndGet(seq, Math::max);
  }

  /** Asks a node that just answered for the others, without holding up anything. */
  void learnNowAndThen(Link link) {
    long now = System.nanoTime();
    long due = nextLearnNanos.get();
    if (now - due < 0 || !nextLearnNanos.compareAndSet(due, now + LEARN_EVERY.toNanos())) {
      return;
    }
    askNodes(
        link,
        LEARN_TIMEOUT,
        (response, failure) -> {
          if (response != null) {
            nodes.learn(response.getNodesList());
          }
        });
  }

  /** What a caller is told of a call that failed after all its repetitions. */
  BatonException explain(Throwable failure, Duration patience) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    BatonException refused = Refusal.of(cause).toException(cause);
    if (!refused.isUnreachable()) {
      return refused;
    }
    boolean alone = !answered.get() && options.connectPatience().compareTo(patience) < 0;
    String names = String.join(", ", nodes.all().stream().map(Endpoint::toString).toList());
    return new BatonException(
        refused.code(),
        refused.status(),
        String.format(
            "No scheduler node at %s answered within %s s; the last failure: %s",
            names, seconds(alone ? options.connectPatience() : patience), refused.getMessage()),
        null,
        cause);
  }

  private static String seconds(Duration duration) {
    return duration.toMillis() % 1000 == 0
        ? Long.toString(duration.toSeconds())
        : Double.toString(duration.toMillis() / 1000.0);
  }

  /** One try to learn all nodes from one of them; the callback gets the answer or the failure. */
  static void askNodes(
      Link link,
      Duration timeout,
      BiConsumer<@Nullable ListNodesResponse, @Nullable Throwable> callback) {
    ClientCalls.asyncUnaryCall(
        link.channel()
            .newCall(
                BatonServiceGrpc.getListNodesMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS)),
        ListNodesRequest.getDefaultInstance(),
        new StreamObserver<>() {
          @Override
          public void onNext(ListNodesResponse response) {
            callback.accept(response, null);
          }

          @Override
          public void onError(Throwable failure) {
            callback.accept(null, failure);
          }

          @Override
          public void onCompleted() {}
        });
  }
}
