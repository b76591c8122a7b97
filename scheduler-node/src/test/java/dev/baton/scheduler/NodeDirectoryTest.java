package dev.baton.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.proto.v1.NodeRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeDirectoryTest {
  private final NodeDirectory nodes = new NodeDirectory("s1");

  private void put(String id, boolean loading) {
    NodeRecord record =
        NodeRecord.newBuilder()
            .setNodeId(id)
            .setApiAddress(id + ":7400")
            .setLoading(loading)
            .build();
    nodes.onPut(new KeyValue(ByteString.copyFromUtf8(id), record.toByteString(), 1, 1, 0));
  }

  @Test
  void shouldCallTheOthersThatHaveLoadedStandbys() {
    put("s1", false);
    put("s3", false);
    put("s2", true);
    assertEquals(List.of("s3:7400"), nodes.standbys());
    assertTrue(nodes.isAnyLoading());
    put("s2", false);
    assertEquals(List.of("s2:7400", "s3:7400"), nodes.standbys());
    assertFalse(nodes.isAnyLoading());
  }

  @Test
  void shouldSpareThisNodeWhereOneOfTwoOthersCanFollowTheOther() {
    assertTrue(nodes.canSpareThisNode(), "nobody has said yet");
    put("s2", false);
    nodes.onListed();
    assertFalse(nodes.canSpareThisNode(), "nobody could follow s2");
    put("s3", true);
    assertFalse(nodes.canSpareThisNode(), "s3 has not loaded");
    put("s3", false);
    assertTrue(nodes.canSpareThisNode());
    nodes.onDelete(ByteString.copyFromUtf8("s2"));
    assertFalse(nodes.canSpareThisNode());
  }
}
