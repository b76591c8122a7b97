package dev.baton.scheduler;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.util.LinkedHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Channels to other nodes, one for each address; those not used for long give way. Any thread. */
final class Channels implements Function<String, ManagedChannel>, AutoCloseable {
  private static final int MAX_CHANNELS = 16;

  private final LinkedHashMap<String, ManagedChannel> byAddress =
      new LinkedHashMap<>(16, 0.75f, true);

  @Override
  public synchronized ManagedChannel apply(String address) {
    ManagedChannel channel = byAddress.get(address);
    if (channel == null) {
      channel =
          NettyChannelBuilder.forTarget("dns:///" + address)
              .usePlaintext()
              .disableRetry()
              .keepAliveTime(30, TimeUnit.SECONDS)
              .build();
      byAddress.put(address, channel);
      if (byAddress.size() > MAX_CHANNELS) {
        byAddress.pollFirstEntry().getValue().shutdown();
      }
    }
    return channel;
  }

  @Override
  public synchronized void close() {
    byAddress.values().forEach(ManagedChannel::shutdownNow);
    byAddress.clear();
  }
}
