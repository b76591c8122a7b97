package dev.baton.scheduler;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Registry;
import dev.baton.proto.v1.LeaderRecord;
import dev.baton.proto.v1.ListNodesResponse;
import dev.baton.proto.v1.Node;
import dev.baton.proto.v1.NodeRecord;
import dev.baton.proto.v1.SchedulerAddress;
import dev.baton.scheduler.loop.LeaderView;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** The scheduler nodes that are registered, as this one sees them. Read from any thread. */
public final class NodeDirectory implements Registry.Listener {
  private final String self;
  private final Map<ByteString, NodeRecord> nodes = new ConcurrentHashMap<>();
  private volatile boolean listed;

  /** The node's own id. */
  public NodeDirectory(String self) {
    this.self = self;
  }

  @Override
  public void onPut(KeyValue keyValue) {
    try {
      nodes.put(keyValue.key(), NodeRecord.parseFrom(keyValue.value()));
    } catch (InvalidProtocolBufferException e) {
      nodes.remove(keyValue.key());
    }
  }

  @Override
  public void onDelete(ByteString key) {
    nodes.remove(key);
  }

  @Override
  public void onListed() {
    listed = true;
  }

  /**
   * Whether the cluster can do without this node for a while: two others have loaded, of which one
   * can follow the other. True as long as nobody has said.
   */
  boolean canSpareThisNode() {
    return !listed || standbys().size() > 1;
  }

  /** Whether a node reads the state at this moment, and needs old revisions. */
  public boolean isAnyLoading() {
    return nodes.values().stream().anyMatch(NodeRecord::getLoading);
  }

  /** The API addresses of the other nodes that have loaded. */
  public List<String> standbys() {
    return nodes.values().stream()
        .filter(node -> !node.getNodeId().equals(self) && !node.getLoading())
        .map(NodeRecord::getApiAddress)
        .sorted()
        .toList();
  }

  /** All nodes, in the order of their ids. */
  List<SchedulerAddress> addresses() {
    return nodes.values().stream()
        .sorted(Comparator.comparing(NodeRecord::getNodeId))
        .map(node ->
            SchedulerAddress.newBuilder()
                .setNodeId(node.getNodeId())
                .setAddress(node.getApiAddress())
                .build())
        .toList();
  }

  ListNodesResponse list(LeaderView view, long seq) {
    ListNodesResponse.Builder answer =
        ListNodesResponse.newBuilder().setTerm(view.term()).setSeq(seq);
    LeaderRecord leader = view.leader();
    Map<String, NodeRecord> byId = new TreeMap<>();
    nodes.values().forEach(node -> byId.put(node.getNodeId(), node));
    for (NodeRecord node : byId.values()) {
      answer.addNodes(
          Node.newBuilder()
              .setNodeId(node.getNodeId())
              .setIncarnation(node.getIncarnation())
              .setApiAddress(node.getApiAddress())
              .setHttpAddress(node.getHttpAddress())
              .setVersion(node.getVersion())
              .setLoading(node.getLoading())
              .setLeader(
                  leader != null
                      && leader.getNodeId().equals(node.getNodeId())
                      && leader.getIncarnation().equals(node.getIncarnation())));
    }
    return answer.build();
  }
}
