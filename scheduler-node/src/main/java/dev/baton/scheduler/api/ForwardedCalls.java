package dev.baton.scheduler.api;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/** Marks calls that another node has sent here, so that they go no further. */
public final class ForwardedCalls implements ServerInterceptor {
  static final Context.Key<Boolean> IS_FORWARDED = Context.key("baton-forwarded");

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (!headers.containsKey(LeaderCalls.FORWARDED)) {
      return next.startCall(call, headers);
    }
    Context marked = Context.current().withValue(IS_FORWARDED, true);
    return Contexts.interceptCall(marked, call, headers, next);
  }
}
