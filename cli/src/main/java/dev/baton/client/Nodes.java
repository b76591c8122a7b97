package dev.baton.client;

import dev.baton.proto.v1.Node;
import io.grpc.ChannelCredentials;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that a client knows, one channel to each, and which of them is next.
 *
 * <p>All calls stay with one node until it fails. Writes go straight to the leader where it is
 * known, which saves the hop through a standby; any node would take them. Thread-safe.
 */
final class Nodes implements AutoCloseable {
  /** A run of 10,000 tasks with its attempts is a few MiB. */
  private static final int MAX_ANSWER_BYTES = 64 << 20;

  private static final int MAX_LEARNED = 32;

  private final List<Endpoint> seeds;
  private final ChannelCredentials credentials;
  private final Map<Endpoint, ManagedChannel> channels = new HashMap<>();
  private List<Endpoint> learned = List.of();
  private List<Endpoint> all;
  private int cursor;
  private @Nullable Endpoint leader;
  private boolean closed;

  Nodes(List<Endpoint> seeds, ChannelCredentials credentials) {
    this.seeds = List.copyOf(new LinkedHashSet<>(seeds));
    this.all = this.seeds;
    this.credentials = credentials;
  }

  /** The node that gets the next try, and the channel to it. */
  synchronized Link next(boolean write) {
    if (closed) {
      throw new IllegalStateException("Expected an open client, but it was closed.");
    }
    Endpoint endpoint = write && leader != null ? leader : all.get(cursor);
    ManagedChannel channel = channels.computeIfAbsent(endpoint, this::open);
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
      // The pause between tries is ours; the channel's own grows to two minutes.
      channel.resetConnectBackoff();
    }
    return new Link(endpoint, channel);
  }

  /** Turns to another node; when several calls fail on the same one, only the first turns. */
  synchronized void avoid(Endpoint failed) {
    if (failed.equals(leader)) {
      leader = null;
    }
    if (all.get(cursor).equals(failed)) {
      cursor = (cursor + 1) % all.size();
    }
  }

  /** Keeps the addresses that a node told, newest first, beside those that were given. */
  synchronized void learn(List<Node> told) {
    if (closed) {
      return;
    }
    Set<Endpoint> fresh = new LinkedHashSet<>();
    leader = null;
    for (Node node : told) {
      try {
        Endpoint endpoint = Endpoint.parse(node.getApiAddress());
        fresh.add(endpoint);
        if (node.getLeader()) {
          leader = endpoint;
        }
      } catch (IllegalArgumentException e) {
        // A node that tells no usable address can still be reached through the others.
      }
    }
    fresh.addAll(learned);
    learned = fresh.stream().limit(MAX_LEARNED).toList();
    Endpoint current = all.get(cursor);
    Set<Endpoint> union = new LinkedHashSet<>(seeds);
    union.addAll(learned);
    all = List.copyOf(union);
    cursor = Math.max(0, all.indexOf(current));
    List<Endpoint> gone = new ArrayList<>(channels.keySet());
    gone.removeAll(union);
    for (Endpoint endpoint : gone) {
      ManagedChannel channel = channels.remove(endpoint);
      if (channel != null) {
        channel.shutdown();
      }
    }
  }

  synchronized boolean knowsLeader() {
    return leader != null;
  }

  synchronized List<Endpoint> all() {
    return all;
  }

  @Override
  public synchronized void close() {
    closed = true;
    channels.values().forEach(ManagedChannel::shutdownNow);
    channels.clear();
  }

  private ManagedChannel open(Endpoint endpoint) {
    return NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port(), credentials)
        .maxInboundMessageSize(MAX_ANSWER_BYTES)
        // Repeating is decided in one place, above.
        .disableRetry()
        .build();
  }

  /** A node and the channel to it. */
  record Link(Endpoint endpoint, ManagedChannel channel) {}
}
