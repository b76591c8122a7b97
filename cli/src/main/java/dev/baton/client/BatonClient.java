package dev.baton.client;

import dev.baton.client.Nodes.Link;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.CancelRunRequest;
import dev.baton.proto.v1.CancelRunResponse;
import dev.baton.proto.v1.CordonWorkerRequest;
import dev.baton.proto.v1.CordonWorkerResponse;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetOutputResponse;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.GetRunResponse;
import dev.baton.proto.v1.ListNodesRequest;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.ListRunsRequest;
import dev.baton.proto.v1.ListRunsResponse;
import dev.baton.proto.v1.ListWorkersRequest;
import dev.baton.proto.v1.ListWorkersResponse;
import dev.baton.proto.v1.RefusalCode;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.SubmitRunResponse;
import dev.baton.proto.v1.UncordonWorkerRequest;
import dev.baton.proto.v1.UncordonWorkerResponse;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * A client of the users' API. Thread-safe; one serves a whole program.
 *
 * <p>A call stays with one node and turns to another when that one does not answer; it is repeated
 * with growing random pauses until its time is over, each time as a fresh call. Every call may be
 * repeated: a submission carries an id that is drawn once, so that however often it arrives there
 * is one run. Reads ask for a state that is at least as new as the newest this client was told of,
 * so it reads its own writes on any node.
 *
 * <p>Failures are {@link BatonException}s; futures complete with one, on a thread of the client.
 */
public final class BatonClient implements AutoCloseable {
  /** The nodes remember an id for longer than this, so a repetition is always recognised. */
  static final Duration RUN_ID_LIFE = Duration.ofMinutes(5);

  private static final IntervalFunction BACKOFF =
      IntervalFunction.ofExponentialRandomBackoff(
          Duration.ofMillis(50), 2.0, 0.5, Duration.ofSeconds(1));

  private final ClientOptions options;
  private final Shared shared;
  private final SecureRandom random = new SecureRandom();

  public BatonClient(ClientOptions options) {
    this.options = options;
    this.shared =
        new Shared(
            options,
            new Nodes(options.endpoints(), options.credentials()),
            new AtomicLong(),
            new AtomicLong(System.nanoTime()),
            new AtomicBoolean(),
            Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("baton-client").daemon().factory()),
            ConcurrentHashMap.newKeySet());
  }

  /** A client with the default options. */
  public static BatonClient connect(List<Endpoint> endpoints) {
    return new BatonClient(ClientOptions.of(endpoints));
  }

  /** Starts a run; see {@link #submitAsync}. */
  public SubmitRunResponse submit(SubmitRunRequest request) {
    return await(submitAsync(request));
  }

  /** Starts a run, and completes once it is durable. Draws the run's id if the request has none. */
  public CompletableFuture<SubmitRunResponse> submitAsync(SubmitRunRequest request) {
    long drawnNanos = System.nanoTime();
    SubmitRunRequest named =
        request.getRunId().isEmpty() ? request.toBuilder().setRunId(drawRunId()).build() : request;
    long giveUpNanos =
        drawnNanos + Math.min(options.callTimeout().toNanos(), RUN_ID_LIFE.toNanos());
    return call(
        BatonServiceGrpc.getSubmitRunMethod(), named, true, giveUpNanos, SubmitRunResponse::getSeq);
  }

  /** An id for a run, for a caller that wants to know it before it submits. */
  public String drawRunId() {
    return Ulid.draw(System.currentTimeMillis(), random);
  }

  public GetRunResponse get(GetRunRequest request) {
    return await(getAsync(request));
  }

  public CompletableFuture<GetRunResponse> getAsync(GetRunRequest request) {
    GetRunRequest fresh = request.toBuilder().setMinSeq(atLeastSeen(request.getMinSeq())).build();
    return call(
        BatonServiceGrpc.getGetRunMethod(), fresh, false, giveUpNanos(), GetRunResponse::getSeq);
  }

  public GetOutputResponse getOutput(GetOutputRequest request) {
    GetOutputRequest fresh =
        request.toBuilder().setMinSeq(atLeastSeen(request.getMinSeq())).build();
    return await(
        call(
            BatonServiceGrpc.getGetOutputMethod(),
            fresh,
            false,
            giveUpNanos(),
            GetOutputResponse::getSeq));
  }

  public ListRunsResponse listRuns(ListRunsRequest request) {
    ListRunsRequest fresh = request.toBuilder().setMinSeq(atLeastSeen(request.getMinSeq())).build();
    return await(
        call(
            BatonServiceGrpc.getListRunsMethod(),
            fresh,
            false,
            giveUpNanos(),
            ListRunsResponse::getSeq));
  }

  public CancelRunResponse cancel(CancelRunRequest request) {
    return await(
        call(
            BatonServiceGrpc.getCancelRunMethod(),
            request,
            true,
            giveUpNanos(),
            CancelRunResponse::getSeq));
  }

  /** Gives a worker nothing new; asked to, ends it, too. */
  public CordonWorkerResponse cordon(CordonWorkerRequest request) {
    return await(
        call(
            BatonServiceGrpc.getCordonWorkerMethod(),
            request,
            true,
            giveUpNanos(),
            CordonWorkerResponse::getSeq));
  }

  /** Takes a worker into service again. */
  public UncordonWorkerResponse uncordon(UncordonWorkerRequest request) {
    return await(
        call(
            BatonServiceGrpc.getUncordonWorkerMethod(),
            request,
            true,
            giveUpNanos(),
            UncordonWorkerResponse::getSeq));
  }

  /** The workers, as the leader knows them: a standby sees only the registry. */
  public ListWorkersResponse listWorkers() {
    if (!shared.nodes().knowsLeader()) {
      listNodes();
    }
    return await(
        call(
            BatonServiceGrpc.getListWorkersMethod(),
            ListWorkersRequest.getDefaultInstance(),
            true,
            giveUpNanos(),
            ListWorkersResponse::getSeq));
  }

  public ListNodesResponse listNodes() {
    ListNodesResponse response =
        await(
            call(
                BatonServiceGrpc.getListNodesMethod(),
                ListNodesRequest.getDefaultInstance(),
                false,
                giveUpNanos(),
                ListNodesResponse::getSeq));
    shared.nodes().learn(response.getNodesList());
    return response;
  }

  /**
   * Follows a run until it has ended. The watch opens again on another node when its own fails, and
   * tells the listener so; it gives up when no node answered for the options' patience.
   */
  public RunWatch watch(String runId, RunWatch.Listener listener) {
    RunWatch watch = new RunWatch(runId, listener, shared);
    watch.start();
    return watch;
  }

  /** All nodes that the client knows of: those it was given, and those it learned. */
  public List<Endpoint> endpoints() {
    return shared.nodes().all();
  }

  /** Ends all calls and watches. */
  @Override
  public void close() {
    shared.scheduler().shutdownNow();
    shared.nodes().close();
    BatonException reason =
        Refusal.of(Status.CANCELLED.withDescription("The client was closed.").asException())
            .toException(null);
    shared.pending().forEach(fail -> fail.accept(reason));
  }

  private <Q, R> CompletableFuture<R> call(
      MethodDescriptor<Q, R> method,
      Q request,
      boolean write,
      long giveUpNanos,
      ToLongFunction<R> seqOf) {
    long aloneUntilNanos = System.nanoTime() + options.connectPatience().toNanos();
    RetryConfig config =
        RetryConfig.<R>custom()
            .maxAttempts(Integer.MAX_VALUE)
            .retryOnException(
                failure -> mayRepeat(Refusal.of(failure), giveUpNanos, aloneUntilNanos))
            .intervalBiFunction(
                (tries, outcome) -> pauseMillis(tries, Refusal.of(outcome.getLeft()), giveUpNanos))
            .build();
    CompletableFuture<R> answer = new CompletableFuture<>();
    Consumer<BatonException> onClientClosed = answer::completeExceptionally;
    shared.pending().add(onClientClosed);
    Retry.of(method.getFullMethodName(), config)
        .executeCompletionStage(shared.scheduler(), () -> once(method, request, write, giveUpNanos))
        .whenCompleteAsync(
            (response, failure) -> {
              shared.pending().remove(onClientClosed);
              if (failure == null) {
                shared.saw(seqOf.applyAsLong(response));
                answer.complete(response);
              } else {
                answer.completeExceptionally(shared.explain(failure, options.callTimeout()));
              }
            },
            shared.scheduler());
    return answer;
  }

  /** One try. A third of the call's time is enough for it: then a stopped node costs no more. */
  private <Q, R> CompletableFuture<R> once(
      MethodDescriptor<Q, R> method, Q request, boolean write, long giveUpNanos) {
    Link link = shared.nodes().next(write);
    long rest = Math.max(giveUpNanos - System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(1));
    long tryNanos = Math.min(rest, Math.max(options.callTimeout().toNanos() / 3, 500_000_000));
    CompletableFuture<R> answer = new CompletableFuture<>();
    ClientCalls.asyncUnaryCall(
        link.channel()
            .newCall(method, CallOptions.DEFAULT.withDeadlineAfter(tryNanos, TimeUnit.NANOSECONDS)),
        request,
        new StreamObserver<R>() {
          @Override
          public void onNext(R response) {
            answer.complete(response);
          }

          @Override
          public void onError(Throwable failure) {
            if (Refusal.of(failure).blamesNode()) {
              shared.nodes().avoid(link.endpoint());
            }
            answer.completeExceptionally(failure);
          }

          @Override
          public void onCompleted() {
            shared.learnNowAndThen(link);
          }
        });
    return answer;
  }

  private boolean mayRepeat(Refusal refusal, long giveUpNanos, long aloneUntilNanos) {
    if (refusal.code() != RefusalCode.REFUSAL_CODE_UNSPECIFIED) {
      shared.answered().set(true);
    }
    long now = System.nanoTime();
    Duration asked = refusal.retryAfter() == null ? Duration.ZERO : refusal.retryAfter();
    return refusal.mayRepeat()
        && giveUpNanos - now > asked.toNanos()
        && (shared.answered().get() || aloneUntilNanos - now > 0);
  }

  /** What the node asked for and up to a fifth more, else exponential; never past the end. */
  static long pauseMillis(int tries, Refusal refusal, long giveUpNanos) {
    long rest = TimeUnit.NANOSECONDS.toMillis(giveUpNanos - System.nanoTime());
    Duration asked = refusal.retryAfter();
    if (asked == null) {
      return Math.clamp(BACKOFF.apply(tries), 1, Math.max(1, rest - rest / 4));
    }
    long more = ThreadLocalRandom.current().nextLong(asked.toMillis() / 5 + 1);
    return Math.max(1, Math.max(asked.toMillis(), Math.min(asked.toMillis() + more, rest)));
  }

  private long giveUpNanos() {
    return System.nanoTime() + options.callTimeout().toNanos();
  }

  private long atLeastSeen(long asked) {
    return Math.max(asked, shared.highestSeq().get());
  }

  private static <R> R await(CompletableFuture<R> answer) {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof BatonException refused) {
        throw refused;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Expected an answer, but the thread was interrupted.", e);
    }
  }
}
