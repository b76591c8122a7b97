package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import java.util.List;

/** What one revision changed: nothing is in both lists. */
public record Commit(long revision, List<KeyValue> puts, List<ByteString> deletes) {
  public Commit {
    puts = List.copyOf(puts);
    deletes = List.copyOf(deletes);
  }
}
