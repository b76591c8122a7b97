package dev.baton.coordination.jetcd;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchProgressRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One watch on a stream of its own; it never resumes.
 *
 * <p>All fields belong to the event loop. Every second it asks etcd for progress, and a stream that
 * stays silent for three has failed: a stopped member keeps its connections.
 */
abstract class JetcdWatch implements Etcd.Watch, StreamObserver<WatchResponse> {
  private static final long PROGRESS_MILLIS = 1000;
  private static final long SILENCE_NANOS = Duration.ofSeconds(3).toNanos();
  private static final WatchRequest ASK_PROGRESS =
      WatchRequest.newBuilder()
          .setProgressRequest(WatchProgressRequest.getDefaultInstance())
          .build();

  private final Member member;
  private final EventLoop loop;
  private final Etcd.WatchRequest request;
  private final Etcd.WatchListener listener;

  private @Nullable ClientCall<WatchRequest, WatchResponse> call;
  private @Nullable StreamObserver<WatchRequest> requests;
  private @Nullable Future<?> timer;
  private boolean opened;
  private volatile boolean over;
  private long heardNanos;
  private long toldRevision;

  JetcdWatch(
      Member member, EventLoop loop, Etcd.WatchRequest request, Etcd.WatchListener listener) {
    this.member = member;
    this.loop = loop;
    this.request = request;
    this.listener = listener;
    this.toldRevision = Math.max(0, request.startRevision() - 1);
  }

  /** Called once, after the last word to the listener. */
  abstract void ended(EtcdException failure);

  void open() {
    run(this::start);
  }

  @Override
  public void close() {
    over = true;
    run(() -> {
      stop();
      ended(new EtcdException(Kind.CLOSED, "The watch is closed."));
    });
  }

  @Override
  public void onNext(WatchResponse response) {
    run(() -> read(response));
  }

  @Override
  public void onError(Throwable failure) {
    run(() -> fail(Failures.of(Status.fromThrowable(failure), member.target())));
  }

  @Override
  public void onCompleted() {
    run(() -> fail(lost("ended the watch")));
  }

  private void start() {
    if (over) {
      return;
    }
    heardNanos = System.nanoTime();
    timer =
        loop.scheduleAtFixedRate(
            this::check, PROGRESS_MILLIS, PROGRESS_MILLIS, TimeUnit.MILLISECONDS);
    call = member.newCall(WatchGrpc.getWatchMethod(), CallOptions.DEFAULT);
    requests = ClientCalls.asyncBidiStreamingCall(call, this);
    requests.onNext(Wire.watch(request));
  }

  private void check() {
    if (over || requests == null) {
      return;
    }
    if (System.nanoTime() - heardNanos > SILENCE_NANOS) {
      fail(lost("has been silent for 3 s"));
    } else if (opened) {
      requests.onNext(ASK_PROGRESS);
    }
  }

  private void read(WatchResponse response) {
    if (over) {
      return;
    }
    heardNanos = System.nanoTime();
    if (response.getCanceled()) {
      fail(cancelled(response));
    } else if (response.getCreated()) {
      opened = true;
      if (request.startRevision() == 0) {
        toldRevision = Math.max(toldRevision, response.getHeader().getRevision());
      }
      listener.onOpen();
    } else if (response.getEventsCount() > 0) {
      toldRevision =
          Math.max(
              toldRevision,
              response.getEvents(response.getEventsCount() - 1).getKv().getModRevision());
      listener.onEvents(response.getEventsList().stream().map(Wire::event).toList(), toldRevision);
    } else {
      // An answer to our question (no watch id) carries the store's revision, but events up to it
      // may still be on their way in etcd before 3.4.25 and 3.5.8; only etcd's own notice is exact.
      if (response.getWatchId() >= 0) {
        toldRevision = Math.max(toldRevision, response.getHeader().getRevision());
      }
      listener.onEvents(List.of(), toldRevision);
    }
  }

  private EtcdException cancelled(WatchResponse response) {
    String reason = response.getCancelReason();
    if (response.getCompactRevision() != 0 || reason.contains("compacted")) {
      return new EtcdException(
          Kind.COMPACTED,
          "The revision to watch from, "
              + request.startRevision()
              + ", is compacted up to "
              + response.getCompactRevision()
              + ".");
    }
    if (reason.contains("permission denied")) {
      return new EtcdException(
          Kind.PERMISSION, "etcd at " + member.target() + " refused the watch: " + reason);
    }
    if (reason.contains("auth token")) {
      member.forgetToken();
      return new EtcdException(
          Kind.AUTH_EXPIRED, "etcd at " + member.target() + " refused the watch: " + reason);
    }
    return lost("cancelled the watch: " + reason);
  }

  private EtcdException lost(String what) {
    return new EtcdException(Kind.UNAVAILABLE, "etcd at " + member.target() + " " + what + ".");
  }

  private void fail(EtcdException failure) {
    if (over) {
      return;
    }
    over = true;
    stop();
    ended(failure);
    listener.onFailure(failure);
  }

  private void stop() {
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
    if (call != null) {
      call.cancel("The watch is over.", null);
      call = null;
      requests = null;
    }
  }

  private void run(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
    } else if (!loop.isShuttingDown()) {
      loop.execute(task);
    }
  }
}
