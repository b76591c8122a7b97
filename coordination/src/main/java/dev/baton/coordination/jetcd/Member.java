package dev.baton.coordination.jetcd;

import dev.baton.coordination.Etcd;
import dev.baton.coordination.EtcdConfig;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The channel to one member of etcd.
 *
 * <p>A channel that could not connect is dropped, and the next call opens another: by itself gRPC
 * would go on to connect, often at first and only every two minutes later.
 */
final class Member {
  private static final Metadata REQUIRE_LEADER = requireLeader();
  private static final int CONNECT_MILLIS = 2000;

  private final String target;
  private final EtcdConfig config;
  private final EventLoopGroup loop;
  private @Nullable Connection connection;
  private boolean closed;

  /** A channel, what calls go by, and what they show; null: no user was configured. */
  private record Connection(
      ManagedChannel managed, Channel channel, @Nullable TokenCredentials token) {}

  Member(String target, EtcdConfig config, EventLoopGroup loop) {
    this.target = target;
    this.config = config;
    this.loop = loop;
    this.connection = connect();
  }

  private Connection connect() {
    ManagedChannel managed =
        builder(target, credentials(config))
            .eventLoopGroup(loop)
            .channelType(NioSocketChannel.class)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .directExecutor()
            .disableRetry()
            .disableServiceConfigLookUp()
            .maxInboundMessageSize(Etcd.MAX_ANSWER_BYTES)
            // etcd closes connections that ask more often than every 5 s.
            .keepAliveTime(10, TimeUnit.SECONDS)
            .keepAliveTimeout(3, TimeUnit.SECONDS)
            .build();
    return new Connection(
        managed,
        // A member that has lost its leader says so at once, and the next one is asked.
        ClientInterceptors.intercept(
            managed, MetadataUtils.newAttachHeadersInterceptor(REQUIRE_LEADER)),
        config.user() == null || config.password() == null
            ? null
            : new TokenCredentials(managed, config.user(), config.password()));
  }

  String target() {
    return target;
  }

  <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    Connection by = connected();
    return by.channel()
        .newCall(method, by.token() == null ? options : options.withCallCredentials(by.token()));
  }

  private synchronized Connection connected() {
    rest();
    Connection current = connection;
    if (current == null) {
      current = connect();
      connection = current;
    }
    return current;
  }

  synchronized void forgetToken() {
    if (connection != null && connection.token() != null) {
      connection.token().forget();
    }
  }

  /** Drops a channel that could not connect. */
  synchronized void rest() {
    if (connection != null
        && !closed
        && connection.managed().getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      connection.managed().shutdownNow();
      connection = null;
    }
  }

  synchronized void shutdown() {
    closed = true;
    if (connection != null) {
      connection.managed().shutdownNow();
    }
  }

  void awaitTermination(long nanos) throws InterruptedException {
    Connection last;
    synchronized (this) {
      last = connection;
    }
    if (last != null) {
      var unused = last.managed().awaitTermination(nanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Names are looked up at each connection, numbers never. */
  private static NettyChannelBuilder builder(String target, ChannelCredentials credentials) {
    int colon = target.lastIndexOf(':');
    String host = target.substring(0, colon).replaceAll("[\\[\\]]", "");
    byte[] number = NetUtil.createByteArrayFromIpAddressString(host);
    if (number == null) {
      return NettyChannelBuilder.forTarget("dns:///" + target, credentials);
    }
    try {
      int port = Integer.parseInt(target.substring(colon + 1));
      return NettyChannelBuilder.forAddress(
          new InetSocketAddress(InetAddress.getByAddress(number), port), credentials);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ChannelCredentials credentials(EtcdConfig config) {
    EtcdConfig.Tls tls = config.tls();
    if (tls == null) {
      return InsecureChannelCredentials.create();
    }
    try {
      TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
      if (tls.ca() != null) {
        builder.trustManager(tls.ca().toFile());
      }
      if (tls.certificate() != null && tls.key() != null) {
        builder.keyManager(tls.certificate().toFile(), tls.key().toFile());
      }
      return builder.build();
    } catch (IOException e) {
      throw new UncheckedIOException("A TLS file for etcd can't be read: " + e.getMessage(), e);
    }
  }

  private static Metadata requireLeader() {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
    return headers;
  }
}
