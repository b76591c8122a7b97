package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Names by which leftovers are known, and what is read of other programs. */
class NamesTest {
  @Test
  void shouldKnowItsOwnNamespacesOnly() {
    assertEquals(Optional.of(4711L), NamespaceMachines.owner("baton-4711-etcd-0"));
    assertEquals(Optional.of(4711L), NamespaceMachines.owner("baton-4711-hub"));
    assertEquals(Optional.empty(), NamespaceMachines.owner("baton-hub"));
    assertEquals(Optional.empty(), NamespaceMachines.owner("dk"));
    assertEquals(Optional.empty(), NamespaceMachines.owner("my-baton-4711-hub"));
  }

  @Test
  void shouldNameALinkAsLinuxAllows() {
    assertTrue(NamespaceMachines.uplink(4_194_304).length() <= 15);
    assertTrue(NamespaceMachines.uplink(Integer.MAX_VALUE).length() <= 15);
  }
}
