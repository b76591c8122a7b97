package dev.baton.scheduler.api;

import dev.baton.coordination.Strand;
import dev.baton.proto.v1.BatonServiceGrpc;
import dev.baton.proto.v1.BatonServiceGrpc.BatonServiceStub;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.scheduler.loop.LeaderView;
import dev.baton.scheduler.loop.SchedulerLoop;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes a write to whoever leads: this node's loop, or another node. While nobody leads it waits
 * and tries again, until the caller's deadline; the call is one that may be repeated, since it
 * carries the run's id.
 */
final class LeaderCalls {
  static final Metadata.Key<String> FORWARDED =
      Metadata.Key.of("baton-forwarded", Metadata.ASCII_STRING_MARSHALLER);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(250);

  /** A leader that does not answer for so long is asked again, or its successor is. */
  private static final Duration TRY = Duration.ofSeconds(3);

  private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final SchedulerLoop loop;
  private final Strand strand;
  private final Function<String, ManagedChannel> channels;

  /**
   * @param strand times the pauses
   * @param channels a channel to an address, shared and closed by its owner
   */
  LeaderCalls(SchedulerLoop loop, Strand strand, Function<String, ManagedChannel> channels) {
    this.loop = loop;
    this.strand = strand;
    this.channels = channels;
  }

  /** The answer of this node's loop: a value or a refusal. */
  interface Answer<T> {
    void accept(@Nullable T value, @Nullable Refusal refusal);
  }

  /**
   * A write.
   *
   * @param here asks this node's loop
   * @param there asks another node
   * @param isForwarded another node has sent it here: it goes no further
   * @param deadlineNanos by the strand's clock
   */
  record Call<T>(
      Consumer<Answer<T>> here,
      BiConsumer<BatonServiceStub, StreamObserver<T>> there,
      boolean isForwarded,
      long deadlineNanos,
      StreamObserver<T> caller) {}

  <T> void call(Call<T> call) {
    attempt(call, FIRST_PAUSE);
  }

  private <T> void attempt(Call<T> call, Duration pause) {
    LeaderView view = loop.leader();
    LeaderRecord leader = view.leader();
    if (view.isSelf()) {
      call.here()
          .accept((value, refusal) -> {
            if (refusal == null && value != null) {
              call.caller().onNext(value);
              call.caller().onCompleted();
            } else if (refusal != null && refusal.code() != RefusalCode.NOT_READY) {
              call.caller().onError(Refusals.exception(refusal));
            } else {
              again(call, pause);
            }
          });
    } else if (call.isForwarded()) {
      call.caller()
          .onError(
              Refusals.exception(
                  new Refusal(RefusalCode.NOT_READY, "This node does not lead: ask again.")));
    } else if (leader == null || leader.getApiAddress().isEmpty()) {
      again(call, pause);
    } else {
      forward(call, leader.getApiAddress(), pause);
    }
  }

  private <T> void forward(Call<T> call, String address, Duration pause) {
    Metadata headers = new Metadata();
    headers.put(FORWARDED, "1");
    long remaining = call.deadlineNanos() - strand.nanoTime();
    // The caller is to hear from us, not only that its time is over.
    long usable = Math.max(remaining - MARGIN_NANOS, remaining / 2);
    boolean isLastTry = usable <= TRY.toNanos();
    BatonServiceStub stub =
        BatonServiceGrpc.newStub(channels.apply(address))
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
            .withDeadlineAfter(Math.min(usable, TRY.toNanos()), TimeUnit.NANOSECONDS);
    call.there()
        .accept(
            stub,
            new StreamObserver<>() {
              @Override
              public void onNext(T value) {
                call.caller().onNext(value);
              }

              @Override
              public void onError(Throwable failure) {
                Status status = Status.fromThrowable(failure);
                Status.Code code = status.getCode();
                // UNKNOWN is what gRPC makes of a connection that closes as a call is written.
                if (code == Status.Code.UNAVAILABLE
                    || (code == Status.Code.UNKNOWN && status.getCause() instanceof IOException)
                    || (code == Status.Code.DEADLINE_EXCEEDED && !isLastTry)) {
                  again(call, pause);
                } else if (code == Status.Code.DEADLINE_EXCEEDED) {
                  call.caller().onError(Refusals.exception(noLeader()));
                } else {
                  call.caller().onError(failure);
                }
              }

              @Override
              public void onCompleted() {
                call.caller().onCompleted();
              }
            });
  }

  private <T> void again(Call<T> call, Duration pause) {
    if (strand.nanoTime() + pause.toNanos() > call.deadlineNanos() - MARGIN_NANOS) {
      call.caller().onError(Refusals.exception(noLeader()));
      return;
    }
    Duration longer = pause.multipliedBy(2);
    strand.schedule(
        pause, () -> attempt(call, longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE));
  }

  private static Refusal noLeader() {
    return new Refusal(
        RefusalCode.NO_LEADER,
        "No leader answered until the deadline of the call: see `baton nodes`, and whether etcd has a quorum.");
  }
}
