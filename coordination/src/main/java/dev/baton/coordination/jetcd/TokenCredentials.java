package dev.baton.coordination.jetcd;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.AuthenticateResponse;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The token of one member: asked for by the first call, kept until etcd calls it expired.
 *
 * <p>Calls that come while it is being asked for wait for it within their own deadlines.
 */
final class TokenCredentials extends CallCredentials {
  private static final Metadata.Key<String> TOKEN =
      Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
  private static final long DEADLINE_MILLIS = 3000;

  private final AuthenticateRequest request;
  private final Channel channel;
  private final Object lock = new Object();
  private final List<MetadataApplier> waiting = new ArrayList<>();
  private @Nullable Metadata headers;

  TokenCredentials(Channel channel, String user, String password) {
    this.channel = channel;
    this.request = AuthenticateRequest.newBuilder().setName(user).setPassword(password).build();
  }

  /** The next call asks for a new token. */
  void forget() {
    synchronized (lock) {
      headers = null;
    }
  }

  @Override
  public void applyRequestMetadata(RequestInfo info, Executor executor, MetadataApplier applier) {
    Metadata known;
    synchronized (lock) {
      known = headers;
      if (known == null) {
        waiting.add(applier);
        if (waiting.size() > 1) {
          return;
        }
      }
    }
    if (known != null) {
      applier.apply(known);
      return;
    }
    ClientCalls.asyncUnaryCall(
        channel.newCall(
            AuthGrpc.getAuthenticateMethod(),
            CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_MILLIS, TimeUnit.MILLISECONDS)),
        request,
        new StreamObserver<AuthenticateResponse>() {
          @Override
          public void onNext(AuthenticateResponse response) {
            Metadata fresh = new Metadata();
            fresh.put(TOKEN, response.getToken());
            answered(fresh, Status.OK);
          }

          @Override
          public void onError(Throwable failure) {
            answered(null, passable(Status.fromThrowable(failure)));
          }

          @Override
          public void onCompleted() {}
        });
  }

  /** gRPC turns most statuses of credentials into an internal error. */
  private static Status passable(Status status) {
    return switch (status.getCode()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> status;
      default -> Status.PERMISSION_DENIED.withDescription(status.getDescription());
    };
  }

  private void answered(@Nullable Metadata fresh, Status status) {
    List<MetadataApplier> released;
    synchronized (lock) {
      headers = fresh;
      released = List.copyOf(waiting);
      waiting.clear();
    }
    for (MetadataApplier applier : released) {
      if (fresh != null) {
        applier.apply(fresh);
      } else {
        applier.fail(status);
      }
    }
  }
}
