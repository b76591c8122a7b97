package dev.baton.client;

import dev.baton.client.Nodes.Link;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.Node;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.WatchRunRequest;
import dev.baton.proto.v1.WatchRunResponse;
import io.github.resilience4j.core.functions.Either;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows one run over as many streams as it takes.
 *
 * <p>A stream that is silent is not trusted: a stopped node leaves its connections open. After two
 * quiet seconds the node is asked for the list of nodes, and given up if it does not answer; the
 * answer also tells of a new leader while the run itself stands still.
 */
public final class RunWatch implements AutoCloseable {
  private static final Duration QUIET = Duration.ofSeconds(2);
  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(2);

  /** A stream is opened afresh after this long, however well it does: every call has a deadline. */
  private static final Duration STREAM_LIFE = Duration.ofHours(1);

  private final String runId;
  private final Listener listener;
  private final Shared shared;
  private final CompletableFuture<Run> ended = new CompletableFuture<>();
  private final Consumer<BatonException> onClientClosed = ended::completeExceptionally;

  // Guarded by this, as are the calls of the listener: they come one at a time and in order.
  private @Nullable Stream stream;
  private @Nullable ScheduledFuture<?> ticks;
  private @Nullable Run last;
  private @Nullable String brokenBy;
  private String leader = "";
  private long term;
  private int failuresInRow;
  private long heardNanos = System.nanoTime();
  private boolean closed;

  RunWatch(String runId, Listener listener, Shared shared) {
    this.runId = runId;
    this.listener = listener;
    this.shared = shared;
    shared.pending().add(onClientClosed);
  }

  /**
   * Told what happens, one call at a time, on threads of the client. It must not block for long.
   */
  public interface Listener {
    /**
     * The run changed. The first response of every stream holds all tasks, later ones those that
     * changed; a response can repeat what is known already.
     */
    void onChange(WatchRunResponse change);

    /** Another node leads, or the first was heard of. */
    default void onLeader(String nodeId, long term) {}

    /** The stream broke and goes on at {@code endpoint}; nothing was missed. */
    default void onReopened(Endpoint endpoint, String reason) {}
  }

  /**
   * Completes with the run's last state once it has ended; with a {@link BatonException} if it
   * cannot be followed. Continue on an executor of your own.
   */
  public CompletableFuture<Run> ended() {
    return ended;
  }

  /** Stops following; the run goes on. */
  @Override
  public synchronized void close() {
    closed = true;
    stopTicks();
    if (stream != null) {
      stream.call.cancel("the watch was closed", null);
    }
    shared.pending().remove(onClientClosed);
    ended.cancel(false);
  }

  synchronized void start() {
    ticks = shared.scheduler().scheduleWithFixedDelay(this::tick, 500, 500, TimeUnit.MILLISECONDS);
    RetryConfig config =
        RetryConfig.<Run>custom()
            .maxAttempts(Integer.MAX_VALUE)
            .retryOnException(this::mayOpenAgain)
            .intervalBiFunction((tries, outcome) -> pauseMillis(outcome))
            .build();
    Retry.of("WatchRun", config)
        .executeCompletionStage(shared.scheduler(), this::open)
        .whenCompleteAsync((run, failure) -> finish(run, failure), shared.scheduler());
  }

  private synchronized CompletableFuture<Run> open() {
    if (closed) {
      return CompletableFuture.failedFuture(
          Status.CANCELLED.withDescription("the watch was closed").asException());
    }
    Link link = shared.nodes().next(false);
    ClientCall<WatchRunRequest, WatchRunResponse> call =
        link.channel()
            .newCall(
                BatonServiceGrpc.getWatchRunMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(
                    STREAM_LIFE.toMillis(), TimeUnit.MILLISECONDS));
    Stream opened = new Stream(link, call);
    stream = opened;
    ClientCalls.asyncServerStreamingCall(
        call,
        WatchRunRequest.newBuilder().setRunId(runId).setMinSeq(shared.highestSeq().get()).build(),
        opened);
    return opened.result;
  }

  private synchronized void onResponse(Stream from, WatchRunResponse response) {
    if (closed || stream != from) {
      return;
    }
    heard(from);
    failuresInRow = 0;
    shared.learnNowAndThen(from.link);
    shared.saw(response.getSeq());
    String reason = brokenBy;
    if (reason != null) {
      brokenBy = null;
      listener.onReopened(from.link.endpoint(), reason);
    }
    noteLeader(response.getLeaderNodeId(), response.getTerm());
    last = response.getRun();
    listener.onChange(response);
  }

  private synchronized void onEnd(Stream from, @Nullable Throwable failure) {
    if (stream != from) {
      return;
    }
    stream = null;
    Run run = last;
    if (run != null && run.getState() != RunState.RUN_RUNNING) {
      from.result.complete(run);
      return;
    }
    Throwable cause =
        failure != null
            ? failure
            : Status.UNAVAILABLE.withDescription("the node ended the stream").asException();
    Refusal refusal = Refusal.of(cause);
    if (refusal.blamesNode()) {
      shared.nodes().avoid(from.link.endpoint());
    }
    if (last != null && brokenBy == null) {
      brokenBy = from.link.endpoint() + " failed: " + refusal.message();
    }
    from.result.completeExceptionally(cause);
  }

  /** Every half second: is the node of a quiet stream still there? */
  private synchronized void tick() {
    Stream probed = stream;
    if (closed || probed == null || probed.probing || quietNanos(probed) < QUIET.toNanos()) {
      return;
    }
    probed.probing = true;
    Shared.askNodes(
        probed.link, PROBE_TIMEOUT, (answer, failure) -> onProbed(probed, answer, failure));
  }

  private synchronized void onProbed(
      Stream probed, @Nullable ListNodesResponse answer, @Nullable Throwable failure) {
    probed.probing = false;
    if (closed || stream != probed) {
      return;
    }
    if (answer == null) {
      String why = failure == null ? "" : " (" + Refusal.of(failure).message() + ")";
      probed.call.cancel("silent", null);
      onEnd(probed, Status.UNAVAILABLE.withDescription("the node fell silent" + why).asException());
      return;
    }
    heard(probed);
    shared.nodes().learn(answer.getNodesList());
    for (Node node : answer.getNodesList()) {
      if (node.getLeader()) {
        noteLeader(node.getNodeId(), answer.getTerm());
      }
    }
  }

  private void noteLeader(String nodeId, long newTerm) {
    boolean isNews = newTerm > term || (newTerm == term && !nodeId.equals(leader));
    if (!nodeId.isEmpty() && isNews) {
      leader = nodeId;
      term = newTerm;
      listener.onLeader(nodeId, newTerm);
    }
  }

  private synchronized boolean mayOpenAgain(Throwable failure) {
    Duration patience =
        shared.answered().get()
            ? shared.options().watchPatience()
            : shared.options().connectPatience();
    return !closed
        && Refusal.of(failure).mayRepeat()
        && System.nanoTime() - heardNanos < patience.toNanos();
  }

  private synchronized long pauseMillis(Either<Throwable, Run> outcome) {
    failuresInRow++;
    return BatonClient.pauseMillis(
        failuresInRow,
        Refusal.of(outcome.getLeft()),
        System.nanoTime() + shared.options().watchPatience().toNanos());
  }

  private synchronized void finish(@Nullable Run run, @Nullable Throwable failure) {
    stopTicks();
    shared.pending().remove(onClientClosed);
    if (run != null) {
      ended.complete(run);
    } else if (failure != null) {
      ended.completeExceptionally(shared.explain(failure, shared.options().watchPatience()));
    }
  }

  private void stopTicks() {
    if (ticks != null) {
      ticks.cancel(false);
    }
  }

  private void heard(Stream from) {
    long now = System.nanoTime();
    heardNanos = now;
    from.heardNanos = now;
  }

  private static long quietNanos(Stream of) {
    return System.nanoTime() - of.heardNanos;
  }

  /** One stream on one node. */
  private final class Stream implements StreamObserver<WatchRunResponse> {
    private final Link link;
    private final ClientCall<WatchRunRequest, WatchRunResponse> call;
    private final CompletableFuture<Run> result = new CompletableFuture<>();
    private long heardNanos = System.nanoTime();
    private boolean probing;

    Stream(Link link, ClientCall<WatchRunRequest, WatchRunResponse> call) {
      this.link = link;
      this.call = call;
    }

    @Override
    public void onNext(WatchRunResponse response) {
      onResponse(this, response);
    }

    @Override
    public void onError(Throwable failure) {
      onEnd(this, failure);
    }

    @Override
    public void onCompleted() {
      onEnd(this, null);
    }
  }
}
