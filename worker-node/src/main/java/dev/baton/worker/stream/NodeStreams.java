package dev.baton.worker.stream;

import dev.baton.coordination.Strand;
import dev.baton.proto.v1.SchedulerMessage;
import dev.baton.proto.v1.WorkerMessage;
import io.github.resilience4j.core.IntervalFunction;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One stream to every scheduler node that is known.
 *
 * <p>Called on the worker's strand, and calls its listener there. All state is soft.
 */
public final class NodeStreams implements AutoCloseable {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(3);

  private final Strand strand;
  private final Listener listener;
  private final IntervalFunction pauses =
      IntervalFunction.ofExponentialRandomBackoff(FIRST_PAUSE, 2.0, 0.5, LONGEST_PAUSE);
  private final Map<String, NodeStream> streams = new LinkedHashMap<>();

  public NodeStreams(Strand strand, Listener listener) {
    this.strand = strand;
    this.listener = listener;
  }

  /** What happens on the streams; what is said of an earlier stream of a node never comes. */
  public interface Listener {
    /** The stream takes messages; whether the node is there is not known yet. */
    void opened(String node);

    void received(String node, SchedulerMessage message);

    /** The stream has room again. */
    void writable(String node);

    void closed(String node);
  }

  /**
   * A node is there, or has moved.
   *
   * @param address host:port of its gRPC port
   */
  public void put(String node, String address) {
    NodeStream known = streams.get(node);
    if (known != null && known.address().equals(address)) {
      known.keep();
      return;
    }
    if (known != null) {
      known.shutDown("the node moved to " + address);
    }
    NodeStream stream = new NodeStream(node, address, strand, listener, pauses);
    streams.put(node, stream);
    stream.open();
  }

  /**
   * A node is no longer listed. A stream that works is kept: the list may be wrong, and what is
   * said is judged by its term.
   */
  public void remove(String node) {
    NodeStream known = streams.get(node);
    if (known != null) {
      known.letGo(() -> streams.remove(node, known));
    }
  }

  public boolean ready(String node) {
    NodeStream stream = streams.get(node);
    return stream != null && stream.ready();
  }

  public void send(String node, WorkerMessage message) {
    NodeStream stream = streams.get(node);
    if (stream != null) {
      stream.send(message);
    }
  }

  /** Ends the node's stream; it is opened again after a pause. */
  public void close(String node, String reason) {
    NodeStream stream = streams.get(node);
    if (stream != null) {
      stream.close(reason);
    }
  }

  /** Streams on which the node has been heard. */
  public int connected() {
    return (int) streams.values().stream().filter(NodeStream::connected).count();
  }

  public int known() {
    return streams.size();
  }

  /** Ends all streams, for good. */
  @Override
  public void close() {
    streams.values().forEach(stream -> stream.shutDown("the worker ends"));
    streams.clear();
  }
}
