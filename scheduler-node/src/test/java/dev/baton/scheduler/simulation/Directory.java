package dev.baton.scheduler.simulation;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Registry;
import dev.baton.proto.v1.NodeRecord;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/** The scheduler nodes that are registered, as one of them sees them. */
final class Directory implements Registry.Listener {
  private final String self;
  private final TreeMap<ByteString, NodeRecord> nodes =
      new TreeMap<>(Comparator.comparing(ByteString::toStringUtf8));

  Directory(String self) {
    this.self = self;
  }

  @Override
  public void onPut(KeyValue keyValue) {
    try {
      nodes.put(keyValue.key(), NodeRecord.parseFrom(keyValue.value()));
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void onDelete(ByteString key) {
    nodes.remove(key);
  }

  boolean isAnyLoading() {
    return nodes.values().stream().anyMatch(NodeRecord::getLoading);
  }

  /** The addresses of the other nodes that have loaded. */
  List<String> standbys() {
    return nodes.values().stream()
        .filter(node -> !node.getNodeId().equals(self) && !node.getLoading())
        .map(NodeRecord::getApiAddress)
        .toList();
  }
}
