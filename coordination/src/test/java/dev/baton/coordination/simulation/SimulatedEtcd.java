package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.KeyValue;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** A cluster of three etcd members in a {@link World}. */
@SuppressWarnings("DoNotCallSuggester") // Nothing is in it yet.
public final class SimulatedEtcd {
  public SimulatedEtcd(World world) {}

  /** A client; an owner may have several, and they are cut off together. */
  public Etcd client(String owner) {
    throw new UnsupportedOperationException();
  }

  public Faults faults() {
    throw new UnsupportedOperationException();
  }

  /** Called with each change of the store as it is applied, in the order of revisions. */
  public void observe(Consumer<Commit> observer) {
    throw new UnsupportedOperationException();
  }

  /** The newest state of a key. */
  public Optional<KeyValue> peek(ByteString key) {
    throw new UnsupportedOperationException();
  }

  /** The newest state from {@code from} (inclusive) to {@code to} (exclusive). */
  public List<KeyValue> peekRange(ByteString from, ByteString to) {
    throw new UnsupportedOperationException();
  }

  /** The newest revision. */
  public long revision() {
    throw new UnsupportedOperationException();
  }

  public long count(Happening happening) {
    throw new UnsupportedOperationException();
  }

  public Map<Happening, Long> counts() {
    throw new UnsupportedOperationException();
  }
}
